import { parentPort, workerData } from 'node:worker_threads';
import type { DetectedObject } from '@vision/contracts/detection';
import type { OnnxSpec } from '@vision/contracts/scenes';
import ort from 'onnxruntime-node';
import type { OutputTensor } from '../domain/candidate.ts';
import { decodeOutputs } from '../domain/decode-outputs.ts';
import { detectFireAndSmoke } from '../domain/detect-fire-and-smoke.ts';
import { inputFor } from '../domain/frame-fit.ts';
import { observeFire } from '../domain/observe-fire.ts';
import { placeImage } from '../domain/placement.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { toTensor } from '../domain/to-tensor.ts';
import type { InputTensor } from '../domain/to-tensor.ts';
import type { DetectRequest, ThreadReply, ThreadRequest, ThreadResult, ThreadSetup } from './thread-messages.ts';

/**
 * Body of a worker thread. ONNX Runtime for Node computes on the thread that calls it, so detection runs here and the
 * main thread stays free for requests. The thread starts without loader flags, so it imports relative modules and
 * packages only.
 */
type Detect = (
  image: RgbImage,
  options: Pick<DetectRequest, 'minScore' | 'labels' | 'shape' | 'isAlone'>,
) => Promise<DetectedObject[]> | DetectedObject[];

const setup = workerData as ThreadSetup;
const port = parentPort;
if (port === null) throw new Error('started outside a worker thread');

const detectors = new Map<string, Detect>();
for (const [name, entry] of Object.entries(setup.detectors)) {
  detectors.set(name, 'path' in entry ? await onnxDetect(entry.spec, entry.path) : chromaticDetect);
}

port.on('message', (request: ThreadRequest) => {
  void answer(request).then((reply) => port.postMessage(reply));
});
port.postMessage({ ready: true } satisfies ThreadReply);

async function answer(request: ThreadRequest): Promise<ThreadReply> {
  try {
    const before = process.threadCpuUsage();
    const result = await resultOf(request);
    const { user, system } = process.threadCpuUsage(before);
    // Other threads of ONNX Runtime take as much as this one, about, and their time is not seen here.
    const isWide = request.isAlone && setup.aloneThreads > setup.intraOpThreads;
    const cpuMs = isWide ? undefined : ((user + system) / 1000) * setup.intraOpThreads;
    return { id: request.id, cpuMs, ...result };
  } catch (error) {
    return { id: request.id, error: error instanceof Error ? error.message : String(error) };
  }
}

async function resultOf(request: ThreadRequest): Promise<ThreadResult> {
  if (request.kind === 'observe') return { observation: observeFire(request.picture) };
  const detect = detectors.get(request.detector);
  if (!detect) throw new Error(`there is no detector ${request.detector}`);
  return { objects: await detect(request.picture, request) };
}

function chromaticDetect(image: RgbImage, { minScore, labels }: Pick<DetectRequest, 'minScore' | 'labels'>) {
  return detectFireAndSmoke({ image, minScore, labels });
}

async function onnxDetect(spec: OnnxSpec, path: string): Promise<Detect> {
  const { intraOpThreads, aloneThreads } = setup;
  const session = await createSession(path, intraOpThreads);
  const aloneSession = aloneThreads > intraOpThreads ? await createSession(path, aloneThreads) : session;
  // One picture at a time is in work here, so their tensors share the memory.
  let memory: InputTensor['data'] | undefined;
  return async (image, { minScore, labels, isAlone, shape = image }) => {
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
