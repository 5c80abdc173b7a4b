import type { FrameData } from '@vision/contracts/frame-events';
import { createProducer } from '@vision/kafka/producer';
import type { KafkaClient } from '@vision/kafka/kafka';
import { createFrameMemory } from '../../services/inference/src/domain/frame-memory.ts';
import { createFramePublisher } from '../../services/inference/src/jobs/frame-publisher.ts';
import type { FramePublisher } from '../../services/inference/src/jobs/frame-publisher.ts';
import { createHold } from '../../services/inference/src/jobs/hold.ts';
import { createFrameGathering } from '../../services/inference/src/use-cases/frame-gathering.ts';
import { syntheticTaskId } from '../synthetic-frames.ts';
import { PARTITIONS } from './results-world.ts';

export interface CamerasOptions {
  kafka: KafkaClient;
  /** Frames of one stream, which all send. */
  frames: readonly FrameData[];
  streams: number;
  /** How long a worker gathers segments; without it each frame is an event of its own. */
  lingerMs?: number | undefined;
}

/** Live streams that send frames evenly, published by as many workers as a system has, with the code of the workers. */
export interface Cameras {
  taskIds: readonly string[];
  /** Frames captured so far, of all streams. */
  captured: () => number;
  /** Instant of `performance.now()` at which a stream captured its frame of this number. */
  capturedAtMs: (stream: number, seq: number) => number;
  /** Resolves when every frame that was captured has reached Kafka. */
  stop: () => Promise<void>;
}

const STREAMS_A_WORKER = 16;
const FRAME_MS = 200;
const TICK_MS = 10;
const MIB = 1024 * 1024;

/** @throws from `stop` when a worker could not publish, or lost a frame */
export async function startCameras({ kafka, frames, streams, lingerMs }: CamerasOptions): Promise<Cameras> {
  const taskIds = Array.from({ length: streams }, syntheticTaskId);
  const workers = Array.from({ length: Math.ceil(streams / STREAMS_A_WORKER) }, () => createWorker(kafka, lingerMs));
  const publishers = taskIds.map((_, stream) => openStream(workers[stream % workers.length], stream));
  const begunMs = performance.now();
  // No two streams capture at the same instant.
  const capturedAtMs = (stream: number, seq: number) => begunMs + (stream / streams + seq) * FRAME_MS;
  let captured = 0;
  const capture = () => {
    for (; ; captured += 1) {
      const [stream, seq] = [captured % streams, Math.floor(captured / streams)];
      const frame = frames[seq];
      if (!frame || capturedAtMs(stream, seq) > performance.now()) return;
      void publishers[stream]?.add({ ...frame, job_id: taskIds[stream] ?? '' });
    }
  };
  const ticks = setInterval(capture, TICK_MS);
  return {
    taskIds,
    captured: () => captured,
    capturedAtMs,
    stop: async () => {
      clearInterval(ticks);
      await Promise.all(publishers.map((publisher) => publisher.flush()));
      await Promise.all(workers.map(({ producer }) => producer.stop()));
    },
  };
}

function createWorker(kafka: KafkaClient, lingerMs: number | undefined) {
  const producer = createProducer(kafka);
  const gathering = lingerMs === undefined ? undefined : createFrameGathering({ producer, isOn: () => true, lingerMs });
  return { producer, gathering, memory: createFrameMemory({ jobBytes: 16 * MIB, workerBytes: 128 * MIB }) };
}

function openStream(worker: ReturnType<typeof createWorker> | undefined, stream: number): FramePublisher {
  if (!worker) throw new Error('a stream has no worker');
  return createFramePublisher({
    ...worker,
    partition: stream % PARTITIONS,
    hold: createHold({ untilMs: Infinity, onExpired: () => undefined }),
    onAcknowledged: () => undefined,
    drops: {
      onDrop: ({ seq }) => {
        throw new Error(`frame ${seq} was dropped`);
      },
      onDropsEnd: () => undefined,
    },
  });
}
