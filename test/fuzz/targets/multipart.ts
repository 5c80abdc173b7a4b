import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { AppError, fail } from '@vision/contracts/errors';
import type { Form, ReceivedForm } from '@vision/creation/multipart/form';
import { readForm } from '@vision/creation/multipart/read-form';
import { attemptLater, piecesOf } from '../properties.ts';
import type { Outcome } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const MAX_FILES = 3;
const MAX_FILE_BYTES = 2000;
const PIECE_BYTES = 64 * 1024;

/** Multipart forms with the boundary `x`: within the limits of the form, and the same however they are cut. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  slowMs: 250,
  bulk: { kind: 'message', mostMs: 200, open: () => readLarge },
  check: async (input) => {
    const whole = await read([input]);
    const pieces = await read(piecesOf(input));
    // Of several faults another one may be seen first; what is accepted is the same.
    if (!hasOverlooked(input))
      assert.deepEqual('read' in pieces ? pieces : undefined, 'read' in whole ? whole : undefined);
    if ('refused' in whole) return;
    const { files, values } = whole.read;
    assert.ok(files.length >= 1 && files.length <= MAX_FILES);
    for (const file of files) assert.ok(file.length <= MAX_FILE_BYTES);
    assert.ok([...values.keys()].every((name: string) => name === 'note'));
    assert.ok([...values.values()].every((value) => value.length <= 1024));
  },
};

/** busboy overlooks a boundary one byte behind another one when both arrive in the same piece. */
const hasOverlooked = (input: Buffer) => /--x[-\r]\r\n--x/.test(input.toString('latin1'));

/** A form of that size as from a socket, within larger limits. */
async function readLarge(form: Buffer): Promise<void> {
  const count = Math.ceil(form.length / PIECE_BYTES);
  const pieces = Array.from({ length: count }, (_, index) =>
    form.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
  await read(pieces, form.length);
}

async function read(
  pieces: readonly Buffer[],
  maxFileBytes = MAX_FILE_BYTES,
): Promise<Outcome<ReceivedForm<Buffer, 'note'>>> {
  let storing = 0;
  const body = Object.assign(Readable.from(pieces, { objectMode: false }), {
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'transfer-encoding': 'chunked' },
    complete: true,
  });
  const form: Form<Buffer, 'note'> = {
    files: {
      field: 'files',
      maxCount: MAX_FILES,
      maxBytes: maxFileBytes,
      store: async ({ stream }) => {
        storing += 1;
        try {
          return await buffer(stream);
        } finally {
          storing -= 1;
        }
      },
      refuseNone: () => fail.requestInvalid('file_missing', 'none'),
      refuseTooMany: () => fail.requestInvalid('too_many_files', 'too many'),
      refuseTooLarge: () => fail.requestInvalid('file_too_large', 'too large'),
    },
    values: ['note'],
    limits: { maxBytes: 50 * maxFileBytes, idleMs: 60_000, totalMs: 60_000 },
  };
  // Reading needs the body, its headers and whether it is complete.
  const outcome = await attemptLater(() => readForm(body as unknown as IncomingMessage, form), { by: AppError });
  assert.equal(storing, 0, 'a file is still being stored');
  body.destroy();
  return outcome;
}
