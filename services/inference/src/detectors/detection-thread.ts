import { parentPort, workerData } from 'node:worker_threads';
import type { DetectedObject } from '@vision/contracts/detection';
import type { OnnxSpec } from '@vision/contracts/scenes';
import ort from 'onnxruntime-node';
import type { OutputTensor } from '../domain/candidate.ts';
import { decodeOutputs } from '../domain/decode-outputs.ts';
import { inputFor } from '../domain/frame-fit.ts';
import { placeImage } from '../domain/placement.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { toTensor } from '../domain/to-tensor.ts';
import type { InputTensor } from '../domain/to-tensor.ts';
import type { DetectRequest, ThreadReply, ThreadSetup } from './thread-messages.ts';

/**
 * Body of a worker thread. ONNX Runtime for Node computes on the thread that calls it, so detection runs here and the
 * main thread stays free for requests. The thread starts without loader flags, so it imports relative modules and
 * packages only.
 */
type Detect = (
  image: RgbImage,
  options: Pick<DetectRequest, 'minScore' | 'labels' | 'shape' | 'isAlone'>,
) => Promise<DetectedObject[]>;

const setup = workerData as ThreadSetup;
const port = parentPort;
if (port === null) throw new Error('started outside a worker thread');

const detectors = new Map<string, Detect>();
for (const [name, { spec, path }] of Object.entries(setup.detectors)) {
  detectors.set(name, await onnxDetect(spec, path));
}

port.on('message', (request: DetectRequest) => {
  void answer(request).then((reply) => port.postMessage(reply));
});
port.postMessage({ ready: true } satisfies ThreadReply);

async function answer(request: DetectRequest): Promise<ThreadReply> {
  try {
    const before = process.threadCpuUsage();
    const objects = await detect(request);
    const { user, system } = process.threadCpuUsage(before);
    // Other threads of ONNX Runtime take as much as this one, about, and their time is not seen here.
    const isWide = request.isAlone && setup.aloneThreads > 1;
    const cpuMs = isWide ? undefined : (user + system) / 1000;
    return { id: request.id, cpuMs, objects };
  } catch (error) {
    return { id: request.id, error: error instanceof Error ? error.message : String(error) };
  }
}

function detect(request: DetectRequest): Promise<DetectedObject[]> {
  const named = detectors.get(request.detector);
  if (!named) throw new Error(`there is no detector ${request.detector}`);
  return named(request.image, request);
}

async function onnxDetect(spec: OnnxSpec, path: string): Promise<Detect> {
  const { aloneThreads } = setup;
  const session = await createSession(path, 1);
  const aloneSession = aloneThreads > 1 ? await createSession(path, aloneThreads) : session;
  // One image at a time is in work here, so their tensors share the memory.
  let memory: InputTensor['data'] | undefined;
  return async (image, { minScore, labels, isAlone, shape }) => {
    const input = inputFor(shape, spec.input);
    const placement = placeImage(image, input);
    const tensor = toTensor(image, placement, input, memory);
    memory = tensor.data;
    const feeds = { [input.name]: new ort.Tensor(tensor.dataType, tensor.data, tensor.shape) };
    const results = await (isAlone ? aloneSession : session).run(feeds);
    const outputs: Record<string, OutputTensor> = {};
    for (const [name, result] of Object.entries(results))
      outputs[name] = { shape: result.dims, data: asNumbers(result.data) };
    return decodeOutputs(outputs, { ...spec, input }, { placement, minScore, labels });
  };
}

function createSession(path: string, threads: number): Promise<ort.InferenceSession> {
  return ort.InferenceSession.create(path, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    // Spinning threads save a millisecond on an idle machine and starve others on a busy one.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
}

function asNumbers(data: ort.Tensor['data']): ArrayLike<number> {
  return data instanceof BigInt64Array || data instanceof BigUint64Array
    ? Float64Array.from(data, Number)
    : (data as Float32Array);
}
