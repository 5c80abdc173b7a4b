import { ruleWhen } from '@vision/contracts/alarm-rules';
import { prepareRules } from '../services/results/src/domain/fold/active-rule.ts';
import type { TaskRule } from '../services/results/src/domain/fold/active-rule.ts';
import { Evaluation } from '../services/results/src/domain/fold/evaluation.ts';
import { encodeEvaluation, emptyEvaluation } from '../services/results/src/domain/fold/evaluation-state.ts';
import { paceOf } from '../services/results/src/domain/fold/pace.ts';
import { emptyState, foldFrames } from '../services/results/src/domain/fold/state.ts';
import type { FoldedFrame } from '../services/results/src/domain/fold/state.ts';
import { encodeSegment, openBody } from '../services/results/src/domain/segments/segment.ts';
import { decodeHeads } from '@vision/contracts/segments/head';
import { atMost, median } from './figures.ts';
import type { Figure } from './figures.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

export const name = 'rules';

const FRAMES = 500;
const OBJECTS = 20;
const RULES = 100;
const TURNS = 40;
const pace = paceOf(5);

/**
 * Processor time of the fold of a task without alarm rules, with one and with a hundred, in alternating turns: frames
 * of 20 objects that are read from a segment.
 */
export function run(): Promise<{ figures: Figure[] }> {
  const taskId = syntheticTaskId();
  const segment = segmentOf(taskId);
  const cases = {
    none: [],
    one: rulesOf(1, ['person']),
    absent: rulesOf(RULES, ['bird']),
    matching: rulesOf(RULES, ['person']),
  };
  const times = new Map(Object.keys(cases).map((key) => [key, [] as number[]]));
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const [key, rules] of Object.entries(cases)) {
      const spent = foldOnce(taskId, segment, rules);
      // The first turns warm everything up.
      if (turn >= TURNS / 4) times.get(key)?.push(spent);
    }
  const of = (key: keyof typeof cases) => median(times.get(key) ?? []);
  const figure = (title: string, key: keyof typeof cases): Figure => ({ name: title, value: of(key), unit: 'µs' });
  return Promise.resolve({
    figures: [
      figure(`fold of a frame of ${OBJECTS} objects, no rule`, 'none'),
      figure('the same with one rule', 'one'),
      figure(`with ${RULES} rules on labels that no frame has`, 'absent'),
      figure(`with ${RULES} rules on regions and a label of five objects`, 'matching'),
      {
        name: `${RULES} rules on other labels over none`,
        value: of('absent') / of('none'),
        unit: 'ratio',
        target: atMost(1.3),
        floor: atMost(2),
      },
      {
        name: `${RULES} rules on regions over none`,
        value: of('matching') / of('none'),
        unit: 'ratio',
        floor: atMost(15),
      },
    ],
  });
}

const LABELS = ['person', 'car', 'bicycle', 'bus'];

/** Objects that walk through the image, each with a track of its own. */
function segmentOf(taskId: string) {
  const frames = Array.from({ length: FRAMES }, (_, seq) => ({
    seq,
    attempt: 1,
    position: seq + 1,
    frameTimeMs: 1_790_000_000_000 + seq * 200,
    width: 1920,
    height: 1080,
    objects: Array.from({ length: OBJECTS }, (_none, index) => ({
      label: LABELS[index % LABELS.length] ?? 'person',
      score: (90 - index) / 100,
      bbox: {
        format: 'cxcywh_normalized' as const,
        cx: ((index * 37 + seq) % 1000) / 1000,
        cy: ((index * 53 + seq) % 800) / 1000,
        width: 0.05,
        height: 0.1,
      },
      track_id: `a1-${index}`,
    })),
  }));
  const { heads, body } = encodeSegment(frames, 'fast');
  return { taskId, frames, heads: decodeHeads(heads), body };
}

const rulesOf = (count: number, labels: string[]): TaskRule[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `rule-${index}`,
    version: 1,
    when: ruleWhen.parse({
      kind: 'object_present',
      labels,
      region: [
        [index / 200, 0.1],
        [0.5 + index / 200, 0.1],
        [0.5 + index / 200, 0.9],
        [index / 200, 0.9],
      ],
      for_ms: 2000,
    }),
    minIntervalMs: 60_000,
    schedule: undefined,
    storedMs: 0,
  }));

/** Microseconds of processor time a frame. */
function foldOnce(taskId: string, { frames, heads, body }: ReturnType<typeof segmentOf>, rules: TaskRule[]): number {
  const task = { taskId, threshold: 500_000, isLive: true, beginsMs: 0, pace };
  const prepared = prepareRules(rules, task);
  const start = { position: 0, newest: undefined, createdMs: 1, endedMs: undefined };
  const from = process.cpuUsage();
  const opened = openBody(body, heads);
  const folded = frames.map(({ seq, position, frameTimeMs: timeMs }, index): FoldedFrame => ({
    seq,
    position,
    timeMs,
    eachObject: (take) => opened.eachObject(index, take),
  }));
  const evaluation = rules.length > 0 ? new Evaluation({ ...start, prepared, state: emptyEvaluation() }) : undefined;
  const watched = evaluation?.watch(folded) ?? folded;
  foldFrames(emptyState(), watched, pace);
  evaluation?.add(watched);
  if (evaluation) encodeEvaluation(evaluation.state());
  const { user, system } = process.cpuUsage(from);
  return (user + system) / FRAMES;
}
