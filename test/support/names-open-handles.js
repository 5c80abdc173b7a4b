import { createHook } from 'node:async_hooks';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';

const root = join(import.meta.dirname, '../..');
const PACKAGES = `${sep}node_modules${sep}`;
/** A handle that is being closed may need some turns of the event loop, on a busy machine many. */
const CLOSING_MS = 10_000;

/**
 * A failed test seldom closes what it opened, and loops of a file that left some open go on while the next files of
 * this process run. The run has failed already, so handles are not blamed on those.
 */
let hasLeftovers = false;

/**
 * The environment of one test file. The file fails when it leaves handles that keep its process alive: sockets,
 * servers, child processes, timers. The message names each with the lines that opened it.
 */
export default class NamesOpenHandles extends TestEnvironment {
  #handles = new Map();
  #hasEnded = false;
  #hook = createHook({
    init: this.#opened.bind(this),
    destroy: (id) => this.#handles.delete(id),
    trackPromises: false,
  });

  async setup() {
    await super.setup();
    this.#hook.enable();
  }

  async teardown() {
    this.#hook.disable();
    this.#handles.clear();
    await super.teardown();
  }

  async handleTestEvent(event, state) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') hasLeftovers = true;
    if (event.name !== 'run_finish' || hasLeftovers) return;
    // The timers of the wait below are not the test's.
    this.#hasEnded = true;
    const deadline = Date.now() + CLOSING_MS;
    while (this.#open().length > 0 && Date.now() < deadline) await pause(10);
    const lines = this.#open().map(describe);
    if (lines.length === 0) return;
    hasLeftovers = true;
    state.unhandledErrors.push(failure(`open handles after the last test:\n  ${lines.join('\n  ')}`));
  }

  #opened(id, type, _triggerId, resource) {
    // The socket below a TLS connection has an entry of its own, and an immediate keeps no process alive for long.
    if (this.#hasEnded || type === 'TLSWRAP' || type === 'Immediate' || typeof resource.hasRef !== 'function') return;
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 50;
    this.#handles.set(id, { type, opened: new Error('opened'), resource: new WeakRef(resource) });
    Error.stackTraceLimit = limit;
  }

  #open() {
    const kept = [...this.#handles.values()].filter(({ resource }) => resource.deref()?.hasRef());
    return kept.filter((handle) => !isOfJest(handle));
  }
}

const frames = ({ opened }) =>
  opened.stack
    .split('\n')
    .slice(3)
    .map((line) => line.trim());
const ownFrames = (handle) => frames(handle).filter((line) => line.includes(root + sep) && !line.includes(PACKAGES));

/** The reporter of a run without workers has timers in the process of the tests. */
function isOfJest(handle) {
  return ownFrames(handle).length === 0 && frames(handle).some((line) => /node_modules.(@jest|jest-)/.test(line));
}

function describe(handle) {
  const own = ownFrames(handle);
  const lines = (own.length > 0 ? own : frames(handle)).slice(0, 4);
  return [`${handle.type}${addresses(handle.resource.deref())}`, ...lines].join('\n    ');
}

function addresses(resource) {
  const [local, peer] = [{}, {}];
  resource?.getsockname?.(local);
  resource?.getpeername?.(peer);
  return [local, peer].map(({ address, port }) => (port === undefined ? '' : ` ${address}:${port}`)).join('');
}

/** Without the lines of this file, which say nothing about the test. */
function failure(message) {
  const error = new Error(message);
  error.stack = message;
  return error;
}
