import { expect, test } from '@jest/globals';
import { cursorCodec } from './cursor.ts';

const codec = cursorCodec(['a secret of at least thirty-two characters']);
const task = '01900000-0000-7000-8000-000000000001';
const other = '01900000-0000-7000-8000-000000000002';
const cursor = codec.encode(task, { seq: 4711, position: 5000 });

test.each([
  { seq: -1, position: 0 },
  { seq: 0, position: 1 },
  { seq: 2 ** 31 - 1, position: 2 ** 40 },
])('%j comes back from its cursor', (progress) => {
  expect(codec.decode(task, codec.encode(task, progress))).toEqual(progress);
});

test('the spelling of the task id does not matter', () => {
  expect(codec.decode(task.toUpperCase(), cursor)).toEqual({ seq: 4711, position: 5000 });
});

test('a cursor made with an earlier secret opens as long as the secret is listed', () => {
  // The first secret once signed the tokens of services, too; the cursor is from that time.
  const [fresh, former] = ['another secret of more than thirty-two', 'the-one-secret-of-all-services-until-now'];
  const formerCursor = 'AQAAEmcAAAAAAAATiDvbmXOEx-5dkodDy0YPKug';
  expect(cursorCodec([fresh, former]).decode(task, formerCursor)).toEqual({ seq: 4711, position: 5000 });
  expect(() => cursorCodec([fresh]).decode(task, formerCursor)).toThrow(
    expect.objectContaining({ reason: 'cursor_invalid' }),
  );
});

test('the first secret makes cursors', () => {
  const [fresh, former] = ['another secret of more than thirty-two', 'the-one-secret-of-all-services-until-now'];
  const made = cursorCodec([fresh, former]).encode(task, { seq: 1, position: 2 });
  expect(cursorCodec([fresh]).decode(task, made)).toEqual({ seq: 1, position: 2 });
});

const flipped = (index: number) => {
  const bytes = Buffer.from(cursor, 'base64url');
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes.toString('base64url');
};

test.each([
  ['of another task', codec.encode(other, { seq: 4711, position: 5000 })],
  ['made with another key', cursorCodec(['x'.repeat(32)]).encode(task, { seq: 4711, position: 5000 })],
  ['with another number', flipped(4)],
  ['with another version', flipped(0)],
  ['with another MAC', flipped(28)],
  ['cut short', cursor.slice(0, -1)],
  ['with something behind it', `${cursor}A`],
  ['with padding', `${cursor}=`],
  ['with a blank in it', `${cursor.slice(0, 5)} ${cursor.slice(6)}`],
  ['in words', 'next'],
  ['in JSON', '{"seq":1}'],
  ['far too long', 'A'.repeat(10_000)],
])('a cursor %s is refused', (_how, forged) => {
  expect(() => codec.decode(task, forged)).toThrow(expect.objectContaining({ reason: 'cursor_invalid' }));
});
