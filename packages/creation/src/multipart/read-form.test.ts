import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { asAppError, fail } from '@vision/contracts/errors';
import type { Form, ReceivedForm } from './form.ts';
import { readForm } from './read-form.ts';

type TestForm = Form<string, 'note'>;

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const formWith = (store: TestForm['files']['store']): TestForm => ({
  files: {
    field: 'files',
    maxCount: 2,
    maxBytes: 100,
    store,
    refuseNone: () => fail.requestInvalid('file_missing', 'none'),
    refuseTooMany: () => fail.requestInvalid('too_many_files', 'too many'),
    refuseTooLarge: () => fail.requestInvalid('file_too_large', 'too large'),
  },
  values: ['note'],
  limits: { maxBytes: 10_000, idleMs: 60_000, totalMs: 60_000 },
});

const keep: TestForm['files']['store'] = async ({ stream }) => (await buffer(stream)).toString();

const part = (name: string, content: string, filename?: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n\r\n${content}\r\n`;
const file = (content: string) => part('files', content, 'a.txt');
const END = '--x--\r\n';

/** A request that a test writes, and the form that a server reads from it. */
async function open(form: TestForm, giveUp?: AbortSignal): Promise<{ req: ClientRequest; form: ReadingOutcome }> {
  const reading = Promise.withResolvers<ReceivedForm<string, 'note'>>();
  reading.promise.catch(() => undefined);
  const server = createServer((req: IncomingMessage) => {
    readForm(req, form, giveUp).then(reading.resolve, reading.reject);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const req = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
  req.on('error', () => undefined);
  return { req, form: reading.promise };
}
type ReadingOutcome = Promise<ReceivedForm<string, 'note'>>;

const reasonOf = (outcome: Promise<unknown>) =>
  outcome.then(
    () => 'received',
    (error: unknown) => asAppError(error)?.reason,
  );

test('files come in the order in which they were sent, whichever is stored first, and values by their names', async () => {
  const second = Promise.withResolvers<void>();
  const { req, form } = await open(
    formWith(async ({ stream }) => {
      const content = (await buffer(stream)).toString();
      if (content === 'first') await second.promise;
      else second.resolve();
      return content;
    }),
  );
  req.end(file('first') + part('note', 'hello') + file('second') + END);
  const { files, values } = await form;
  expect(files).toEqual(['first', 'second']);
  expect(values.get('note')).toBe('hello');
});

test.each<[string, string, string]>([
  ['an unknown field', part('other', 'x'), 'unknown_field'],
  ['a value sent twice', part('note', 'x') + part('note', 'y'), 'field_repeated'],
  [
    'a file without a name',
    '--x\r\nContent-Disposition: form-data; name="files"\r\nContent-Type: application/octet-stream\r\n\r\n',
    'file_name_missing',
  ],
  ['a file too many', file('a') + file('b') + file('c'), 'too_many_files'],
  ['a file that is too large', file('a'.repeat(200)), 'file_too_large'],
])('%s is refused while the body is still on its way', async (_what, body, reason) => {
  const { req, form } = await open(formWith(keep));
  // A part has ended when the next one begins.
  req.write(`${body}\r\n--x\r\n`);
  expect(await reasonOf(form)).toBe(reason);
});

test.each([
  ['a file sent as a value', part('files', 'x'), 'Send "files" as a file, with a file name.'],
  ['a value sent as a file', file('x').replace('name="files"', 'name="note"'), 'Send "note" as a value'],
  ['an unknown field', part('other', 'x'), 'Only "files" and "note" are accepted.'],
])('says what to do about %s', async (_what, body, message) => {
  const { req, form } = await open(formWith(keep));
  req.end(body + END);
  await expect(form).rejects.toThrow(message);
});

test('a form that ends in the middle of a file is malformed', async () => {
  const { req, form } = await open(formWith(keep));
  req.end(file('abc').slice(0, -4));
  expect(await reasonOf(form)).toBe('multipart_malformed');
});

test.each(['in the piece of the end', 'in a piece of its own'])(
  '%s, what follows the end of a form is ignored',
  async (where) => {
    const { req, form } = await open(formWith(keep));
    const behind = part('other', 'x') + file('second') + file('third').trimEnd();
    if (where === 'in the piece of the end') req.end(file('first') + END + behind);
    else {
      req.write(file('first') + END);
      req.end(behind);
    }
    expect((await form).files).toEqual(['first']);
  },
);

test('a fault of what stores the files is no fault of the form', async () => {
  const fault = new TypeError('a fault of ours');
  const { req, form } = await open(
    formWith(async ({ stream }) => {
      stream.resume();
      throw fault;
    }),
  );
  req.end(file('abc') + END);
  await expect(form).rejects.toBe(fault);
});

test('a refusal is answered when nothing is stored any more', async () => {
  const [begun, aborted, stored] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const { req, form } = await open(
    formWith(async ({ stream }, signal) => {
      stream.resume();
      signal.addEventListener('abort', () => aborted?.resolve());
      begun?.resolve();
      await stored?.promise;
      return '';
    }),
  );
  let isTold = false;
  const told = reasonOf(form).finally(() => (isTold = true));
  req.write(file('abc'));
  await begun?.promise;
  req.write(`${part('other', 'x')}--x\r\n`);
  await aborted?.promise;
  expect(isTold).toBe(false);
  stored?.resolve();
  expect(await told).toBe('unknown_field');
});

test('reading can be given up, with the reason of who gives it up', async () => {
  const giveUp = new AbortController();
  const begun = Promise.withResolvers<void>();
  const { req, form } = await open(
    formWith(async ({ stream }) => {
      begun.resolve();
      return (await buffer(stream)).toString();
    }),
    giveUp.signal,
  );
  req.write(file('abc').slice(0, -2));
  await begun.promise;
  giveUp.abort(fail.maintenance());
  expect(await reasonOf(form)).toBe('maintenance');
});
