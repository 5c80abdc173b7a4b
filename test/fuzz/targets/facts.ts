import assert from 'node:assert/strict';
import { ZodError } from 'zod';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { SourceError } from '@vision/streams/source-error';
import { FACT, MAX_FACT_BYTES } from '../../../services/inference/src/inputs/messages.ts';
import type { Fact } from '../../../services/inference/src/inputs/messages.ts';
import { readFact } from '../../../services/inference/src/readers/facts.ts';
import { createSourceAddresses } from '../../../services/inference/src/readers/source-addresses.ts';
import { createFrameReader } from '../../../services/inference/src/sandbox/frames.ts';
import type { Frame } from '../../../services/inference/src/sandbox/frames.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const addresses = createSourceAddresses(createAddressPolicy([]), { deadlineMs: 1000 });

/** What a reader of a stream tells, which a stranger's stream may have taken over: one fact as text, and as frames. */
export const target: FuzzTarget = {
  maxBytes: 2 * MAX_FACT_BYTES,
  bulk: { kind: 'stream', mostMs: 2000, open: () => createFrameReader(MAX_FACT_BYTES, checkFact) },
  check: (input) => {
    checkFact({ kind: FACT, payload: input });
    const read = createFrameReader(MAX_FACT_BYTES, checkFact);
    try {
      read(input);
    } catch (error) {
      assert.match((error as Error).message, /^a message of \d+ bytes, 1024 at most$/);
    }
  },
};

function checkFact(frame: Frame): void {
  const fact = read(frame);
  if (!fact) return;
  const again = Buffer.from(JSON.stringify(fact));
  assert.deepEqual(readFact({ kind: FACT, payload: again }), fact);
  if (fact.kind === 'connect') checkTarget(fact);
}

function read(frame: Frame): Fact | undefined {
  try {
    return readFact(frame);
  } catch (error) {
    const isRefusal = error instanceof SyntaxError || error instanceof ZodError;
    assert.ok(isRefusal || (error as Error).message === 'not a fact', String(error));
    return undefined;
  }
}

/** What is connected to is what the rules for addresses made of it, and no part of an address but host and port. */
function checkTarget({ host, port }: Extract<Fact, { kind: 'connect' }>): void {
  const text = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
  const outcome = attempt(() => addresses.parse(text), { by: SourceError, reasons: ['address_forbidden'] });
  if ('read' in outcome) assert.ok(!/[/?#@\\\s]/.test(outcome.read.host), outcome.read.host);
}
