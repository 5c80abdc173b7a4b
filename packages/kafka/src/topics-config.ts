import { z } from 'zod';
import { topicDefinitions, topics } from '@vision/contracts/topics';

const form = z.strictObject({
  partitions: z.number().int().min(1).max(10_000).optional(),
  replicationFactor: z.number().int().min(1).max(32).optional(),
  minInsyncReplicas: z.number().int().min(1).max(32).optional(),
  retentionMs: z.number().int().min(60_000).optional(),
});

type Form = z.output<typeof form>;

const declaration = z
  .strictObject({
    default: form.optional(),
    tasks: form.optional(),
    images: form.optional(),
    results: form.optional(),
    frames: form.optional(),
    jobs: form.optional(),
    rules: form.optional(),
    alarms: form.optional(),
    deadLetters: form.optional(),
  })
  .superRefine((declared, context) => {
    for (const [name, own] of Object.entries(declared)) {
      const { replicationFactor = Infinity, minInsyncReplicas = 1 } = { ...declared.default, ...own };
      if (minInsyncReplicas > replicationFactor)
        context.addIssue(
          `${name}: minInsyncReplicas ${minInsyncReplicas} is above replicationFactor ${replicationFactor}`,
        );
    }
  });

export type TopicDeclaration = z.output<typeof declaration>;

/** JSON, so that a chart can write the values of its user as they are. */
export const topicsSetting = z.string().transform((text, context): TopicDeclaration => {
  const parsed = declaration.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues)
    context.addIssue({ code: 'custom', message: path.length > 0 ? `${path.join('.')}: ${message}` : message });
  return z.NEVER;
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return 'no JSON';
  }
}

/** The desired state of a topic. Absent properties are left to the broker. */
export interface WantedTopic {
  /** Without prefix. */
  name: string;
  partitions: number;
  /** Whether partitions are added to a topic with fewer: only a declared count justifies moving keys. */
  addPartitions: boolean;
  retentionMs: number;
  replicationFactor?: number | undefined;
  minInsyncReplicas?: number | undefined;
  /** Minimum message limit: a topic with a lower limit gets this one; a higher one stays. */
  minMessageBytes?: number | undefined;
}

/** Every topic with its dead letter topic, as declared; undeclared properties keep their defaults. */
export function wantedTopics(declared: TopicDeclaration = {}): WantedTopic[] {
  const { default: common, deadLetters } = declared;
  // Dead letters are few, so their topics inherit only the safety properties.
  const safety: Form = { replicationFactor: common?.replicationFactor, minInsyncReplicas: common?.minInsyncReplicas };
  const own = new Map(
    Object.entries(topics).map(([key, name]) => [name as string, declared[key as keyof typeof topics]]),
  );
  return topicDefinitions.map((definition) => {
    const form = own.has(definition.name)
      ? { ...given(common), ...given(own.get(definition.name)) }
      : { ...given(safety), ...given(deadLetters) };
    return { ...definition, ...form, addPartitions: form.partitions !== undefined };
  });
}

/** Removes undefined properties, which would override earlier ones. */
const given = (of: Form | undefined): { [K in keyof Form]?: NonNullable<Form[K]> } =>
  Object.fromEntries(Object.entries(of ?? {}).filter(([, value]) => value !== undefined));
