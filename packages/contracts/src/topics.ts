/**
 * Kafka topics. The key of every message is the task id, so everything about one task keeps its order; that of a rule
 * is the subject. A job keeps the partition of its frames, so partitions of that topic can be added while jobs run;
 * adding some to another topic moves keys and breaks their order for what is on its way.
 */
export const topics = {
  /** Full snapshots of video tasks, from `submitting` on. */
  tasks: 'vision.tasks.v1',
  /** Full snapshots of image calls. */
  images: 'vision.images.v1',
  /** The end-of-job mark of a task is stored with every frame before it. */
  results: 'vision.results.v1',
  /** Result frames and end-of-job messages of the inference backend. */
  frames: 'vision.frames.v1',
  /** Facts about jobs at work that no decision depends on, such as the state of a live source. */
  jobs: 'vision.jobs.v1',
  /** Full snapshots of alarm rules, keyed by subject. */
  rules: 'vision.rules.v1',
  /** Full snapshots of alarms, as they open and close. */
  alarms: 'vision.alarms.v1',
} as const;

/** The consumer groups of each service, with the topics that they read. */
export const consumerGroups = {
  tasks: [{ group: 'tasks', topics: [topics.results, topics.images] }],
  quota: [{ group: 'quota', topics: [topics.tasks, topics.images] }],
  notify: [{ group: 'notify', topics: [topics.tasks, topics.alarms] }],
  results: [
    { group: 'results-frames', topics: [topics.frames] },
    { group: 'results-tasks', topics: [topics.tasks] },
    { group: 'results-jobs', topics: [topics.jobs] },
    { group: 'results-rules', topics: [topics.rules] },
  ],
} as const;

/**
 * What members of a consumer group announce that they read. Who publishes something that an earlier release passes over
 * asks the group first.
 */
export const groupFeatures = {
  /** `vision.frame.segment.v1` of form 2; of the group `results-frames`. Form 1 was in no release. */
  frameSegments: 'frame-segments-2',
} as const;

export interface TopicDefinition {
  name: string;
  partitions: number;
  retentionMs: number;
  /** Largest batch of records that the topic takes, where the default of the broker is less. */
  minMessageBytes?: number;
}

/** Twice what a topic takes by default: a dead letter is the record with some hundred bytes of headers more. */
const DEAD_LETTER_BYTES = 2 * 1_048_588;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Everything that has to exist before a service starts; dead letter topics carry the suffix `.dlq`. Frames are nearly
 * all of the traffic, and the replicas that store them share their partitions.
 */
export const topicDefinitions: TopicDefinition[] = Object.values(topics).flatMap((name) => [
  { name, partitions: name === topics.frames ? 96 : 6, retentionMs: 7 * DAY_MS },
  { name: dlqTopic(name), partitions: 1, retentionMs: 30 * DAY_MS, minMessageBytes: DEAD_LETTER_BYTES },
]);

/** Name of the dead letter topic of a topic. */
export function dlqTopic(topic: string): string {
  return `${topic}.dlq`;
}
