import { getGlobalDispatcher, request } from 'undici';
import { z } from 'zod';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { KserveSpec } from '@vision/contracts/scenes';
import { readBody } from '@vision/shared/http/read-body';
import { newWire, noting, phaseOf } from '@vision/shared/http/wire';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import type { UpstreamCall } from '@vision/shared/upstream/call-upstream';
import { endOf, UpstreamAnswerError, UpstreamTimeoutError } from '@vision/shared/upstream/ended-call';
import type { OutputTensor } from '../domain/candidate.ts';
import type { InputTensor } from '../domain/to-tensor.ts';

/** The model server did not give a usable answer. */
export class ModelServerError extends Error {
  override readonly name = 'ModelServerError';
}

const MAX_REPLY_BYTES = 64 * 1024 * 1024;

const inferReply = z.object({
  outputs: z.array(
    z.object({
      name: z.string(),
      datatype: z.string(),
      shape: z.array(z.int().min(0)),
      data: z.array(z.unknown()).optional(),
      parameters: z.object({ binary_data_size: z.int().min(0).optional() }).optional(),
    }),
  ),
});

type ReplyOutput = z.infer<typeof inferReply>['outputs'][number];

/**
 * One inference by the Open Inference Protocol v2 (REST). The input travels as binary data behind the JSON part;
 * outputs are read in binary or JSON form, whichever the server chose.
 * @throws ModelServerError when the server refuses, is late, or answers something else.
 */
export async function infer(
  spec: KserveSpec,
  tensor: InputTensor,
  signal?: AbortSignal,
): Promise<Record<string, OutputTensor>> {
  const data = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const head = Buffer.from(JSON.stringify(headOf(spec, tensor, data.length)));
  const attributes = { 'server.address': new URL(spec.url).hostname, 'app.model': spec.model };
  try {
    return await callUpstream(
      { upstream: 'triton', operation: 'infer', limitMs: spec.timeout_ms, attributes },
      (running) => inferOnce(spec, { head, data }, { running, signal }),
    );
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof ModelServerError) throw cause;
    throw new ModelServerError(`the model server at ${new URL(spec.url).host} did not answer`, { cause });
  }
}

async function inferOnce(
  spec: KserveSpec,
  { head, data }: { head: Buffer; data: Buffer },
  { running, signal }: { running: UpstreamCall; signal: AbortSignal | undefined },
): Promise<Record<string, OutputTensor>> {
  const ending = new AbortController();
  const wire = newWire();
  const late = () => ending.abort(new UpstreamTimeoutError(phaseOf(wire), spec.timeout_ms));
  const timer = setTimeout(late, spec.timeout_ms);
  running.sent(() => (wire.begun ? head.length + data.length : 0));
  try {
    const ended = signal ? AbortSignal.any([ending.signal, signal]) : ending.signal;
    const asked = request(`${modelUrl(spec)}/infer`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'inference-header-content-length': String(head.length) },
      body: Buffer.concat([head, data]),
      signal: ended,
      dispatcher: getGlobalDispatcher().compose(noting(wire)),
    });
    // The client listens to the signal only once it has a connection.
    const reply = await unlessAborted(ended, asked);
    running.answered(reply.statusCode);
    const body = await readBody(reply.body, MAX_REPLY_BYTES);
    if (reply.statusCode !== 200) throw refusedWith(reply.statusCode);
    return readOutputs(body, Number(reply.headers['inference-header-content-length'] ?? body.length));
  } catch (error) {
    if (signal?.aborted) running.ended(endOf(signal));
    else if (error instanceof SyntaxError || error instanceof z.ZodError) running.ended('reply_unreadable');
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

function refusedWith(status: number): ModelServerError {
  const cause = new UpstreamAnswerError(status >= 500 ? 'answered_5xx' : 'answered_4xx', `status ${status}`);
  return new ModelServerError(`the model server answered ${status}`, { cause });
}

/** Whether the server says that the model can be used now. */
export async function isModelReady(spec: KserveSpec): Promise<boolean> {
  try {
    const reply = await request(`${modelUrl(spec)}/ready`, {
      signal: AbortSignal.timeout(Math.min(spec.timeout_ms, 2000)),
    });
    await reply.body.dump();
    return reply.statusCode === 200;
  } catch {
    return false;
  }
}

function modelUrl({ url, model, version }: KserveSpec): string {
  const base = `${url.replace(/\/+$/, '')}/v2/models/${model}`;
  return version === undefined ? base : `${base}/versions/${version}`;
}

function headOf({ input, decode }: KserveSpec, { dataType, shape }: InputTensor, size: number): object {
  const names = 'output' in decode ? [decode.output] : Object.values(pick(decode));
  return {
    inputs: [
      {
        name: input.name,
        datatype: dataType === 'uint8' ? 'UINT8' : 'FP32',
        shape,
        parameters: { binary_data_size: size },
      },
    ],
    outputs: names.map((name) => ({ name, parameters: { binary_data: true } })),
  };
}

function pick(decode: Exclude<KserveSpec['decode'], { kind: 'yolo' }>): Record<string, string> {
  if (decode.kind === 'nanodet') return { scores: decode.scores, distances: decode.distances };
  const { boxes, scores, labels } = decode;
  return labels === undefined ? { boxes, scores } : { boxes, scores, labels };
}

function readOutputs(body: Buffer, headLength: number): Record<string, OutputTensor> {
  const head = inferReply.parse(JSON.parse(body.subarray(0, headLength).toString('utf8')));
  const outputs: Record<string, OutputTensor> = {};
  let offset = headLength;
  for (const output of head.outputs) {
    const size = output.parameters?.binary_data_size;
    const data = size === undefined ? fromJson(output) : fromBinary(output, body.subarray(offset, offset + size));
    if (data.length !== output.shape.reduce((product, side) => product * side, 1)) {
      throw new ModelServerError(`output ${output.name} does not have the size of its shape`);
    }
    offset += size ?? 0;
    outputs[output.name] = { shape: output.shape, data };
  }
  return outputs;
}

function fromJson({ data, name }: ReplyOutput): Float64Array {
  const numbers: unknown[] = (data ?? []).flat(20);
  if (!numbers.every((value) => typeof value === 'number'))
    throw new ModelServerError(`output ${name} holds no numbers`);
  return Float64Array.from(numbers);
}

/** Little-endian elements; copied, because a slice of the reply need not be aligned. */
function fromBinary({ datatype, name }: ReplyOutput, bytes: Buffer): ArrayLike<number> {
  const { buffer } = Uint8Array.from(bytes);
  const whole = (size: number) => buffer.slice(0, Math.floor(buffer.byteLength / size) * size);
  switch (datatype) {
    case 'FP32':
      return new Float32Array(whole(4));
    case 'FP64':
      return new Float64Array(whole(8));
    case 'INT32':
      return new Int32Array(whole(4));
    case 'INT64':
      return Float64Array.from(new BigInt64Array(whole(8)), Number);
    default:
      throw new ModelServerError(`output ${name} has the type ${datatype}, which is not supported`);
  }
}
