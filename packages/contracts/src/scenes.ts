import { z } from 'zod';
import { ANY_LABEL, calibration, findCurve, lowestScoreOf } from './calibration.ts';
import type { Calibration } from './calibration.ts';
import { modelInput } from './model-input.ts';

const share = z.number().min(0).max(1);

/**
 * How output tensors become boxes.
 * - `nanodet`: scores `[1, cells, classes]` and side distances `[1, cells, 4 * bins]`, cells of every stride in order.
 * - `yolo`: one tensor of `cx, cy, w, h, (objectness,) class scores` per candidate, in input pixels.
 * - `boxes`: boxes `[1, n, 4]` with either scores `[1, n, classes]` or scores `[1, n]` and class numbers in `labels`.
 */
const outputDecoding = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('nanodet'),
    scores: z.string(),
    distances: z.string(),
    strides: z.array(z.int().min(1)).min(1),
    bins: z.int().min(2),
  }),
  z.strictObject({
    kind: z.literal('yolo'),
    output: z.string(),
    layout: z
      .enum(['candidates_last', 'candidates_first'])
      .describe('[1, values, candidates] or [1, candidates, values]'),
    objectness: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('boxes'),
    boxes: z.string(),
    scores: z.string(),
    labels: z.string().optional(),
    format: z.enum(['xyxy', 'yxyx', 'cxcywh']),
    normalized: z.boolean().describe('Coordinates are 0..1 of the input, else input pixels'),
  }),
]);

const tensorModel = {
  classes: z.array(z.string().min(1)).min(1).describe('Class names in the order of the model'),
  input: modelInput,
  decode: outputDecoding,
  nms_iou: share.default(0.6).describe('Boxes of one class that overlap more are one object'),
  max_objects: z.int().min(1).max(1000).default(100),
  calibration: calibration.optional(),
};

/** ONNX Runtime on this machine; `file` lies in the directory of the models. */
const onnxDetector = z.strictObject({
  kind: z.literal('onnx'),
  version: z.string(),
  file: z.string().regex(/^[\w.-]+\.onnx$/, 'a file name ending in .onnx'),
  ...tensorModel,
});

/** A model server that speaks the Open Inference Protocol v2: Triton, KServe, OpenVINO Model Server. */
const kserveDetector = z.strictObject({
  kind: z.literal('kserve'),
  version: z.string().optional().describe('Model version on the server; its choice when absent'),
  url: z.url({ protocol: /^https?$/ }),
  model: z.string().regex(/^[\w.-]+$/),
  timeout_ms: z.int().min(1).default(5000),
  ...tensorModel,
});

const detector = z.discriminatedUnion('kind', [onnxDetector, kserveDetector]);

/** One measured number, with the threshold it holds for. */
const qualityFigure = z
  .object({
    measure: z
      .enum(['precision', 'recall', 'false_alarms_per_hour', 'seconds_to_first_alarm'])
      .describe(
        '`precision`: share of reported objects that are correct. `recall`: share of real objects that are reported. ' +
          '`false_alarms_per_hour`: alarms in an hour of video without such an object. `seconds_to_first_alarm`: time ' +
          'from the appearance of an object to the first alarm.',
      ),
    label: z.string().min(1).describe('Label that was measured'),
    input: z.enum(['picture', 'video']).describe('Measured on images (`picture`) or on videos (`video`)'),
    min_score: share.describe('Score threshold that the figure applies to'),
    value: z.number().min(0).describe('Measured value: a share from 0 to 1, a number an hour, or seconds'),
  })
  .meta({ id: 'QualityFigure' });

/** How well a scene is recognised: what callers need to know before they rely on it. */
const sceneQuality = z
  .object({
    method: z.string().min(1).describe('Detection method for images and video'),
    measured_on: z
      .string()
      .min(1)
      .describe('Data that the figures were measured on, or a statement that none were measured'),
    figures: z.array(qualityFigure).describe('Measured figures; may be empty'),
    limits: z.array(z.string().min(1)).describe('Known limits: objects that are missed or mistaken, one sentence each'),
  })
  .meta({ id: 'SceneQuality', description: 'Measured detection quality of the scene' });

/** What callers see of a scene (scene list). */
export const sceneView = z
  .object({
    scene_code: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
    name: z.string().min(1),
    description: z.string().min(1),
    enabled: z.boolean().describe('True if the scene is accepted as `scene_code`'),
    labels: z.array(z.string().min(1)).min(1).describe('Labels that detections of this scene can carry'),
    lower_bound: share.describe('Lowest stored score. Detections with a lower score are not stored.'),
    default_min_score: share.describe('Default score threshold of a task, fixed when the task is created'),
    quality: sceneQuality.optional().describe('Measured quality; absent if the operator provides none'),
  })
  .meta({ id: 'Scene', description: 'Set of objects that the service detects' });
export const sceneList = z.object({ scenes: z.array(sceneView) }).meta({ id: 'SceneList' });

/** When frames of a video repeat the objects of an earlier one instead of being detected. */
const stillSettings = z.strictObject({
  least_change: z
    .int()
    .min(1)
    .max(64)
    .default(6)
    .describe('Levels of 255 by which the mean of a square of 8 × 8 pixels has to move to count as a change'),
  longest_ms: z
    .int()
    .min(200)
    .max(60_000)
    .default(5_000)
    .describe('However still a scene is, it is detected this often'),
});

const sceneEntry = z.strictObject({
  ...sceneView.shape,
  detector: z.string().optional().describe('Name of an entry of `detectors`; an enabled scene must have one'),
  input_shapes: z
    .array(z.tuple([z.int(), z.int()]))
    .min(1)
    .optional()
    .describe('Shapes of its detector that this scene uses; all of them when absent'),
  snapshots: z
    .literal('off')
    .optional()
    .describe('Forbids images of videos of this scene, also when a caller asks for them; absent allows them'),
  still: stillSettings
    .optional()
    .describe(
      'Frames of videos in which nothing moves repeat the objects of the frame before; absent looks at them all',
    ),
});

/** The file of `SCENES_FILE`: the one place that defines scenes, their labels, thresholds and detectors. */
export const sceneRegistry = z
  .strictObject({ detectors: z.record(z.string().regex(/^[\w.-]+$/), detector), scenes: z.array(sceneEntry).min(1) })
  .superRefine((registry, context) => {
    const codes = registry.scenes.map((scene) => scene.scene_code);
    if (new Set(codes).size !== codes.length) context.addIssue({ code: 'custom', message: 'scene codes repeat' });
    for (const [name, spec] of Object.entries(registry.detectors)) {
      const strange = strangeCurve(spec);
      if (strange === undefined) continue;
      context.addIssue({ code: 'custom', message: `detector ${name}: calibrates ${strange}, which is no class of it` });
    }
    for (const scene of registry.scenes) {
      const problem = problemOf(scene, registry.detectors);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: `scene ${scene.scene_code}: ${problem}` });
    }
  });

export type SceneView = z.infer<typeof sceneView>;
export type SceneEntry = z.infer<typeof sceneEntry>;
export type StillSettings = z.infer<typeof stillSettings>;
export type DetectorSpec = z.infer<typeof detector>;
export type OnnxSpec = z.infer<typeof onnxDetector>;
export type KserveSpec = z.infer<typeof kserveDetector>;
export type OutputDecoding = z.infer<typeof outputDecoding>;

function strangeCurve({ calibration: scale, classes }: DetectorSpec): string | undefined {
  return Object.keys(scale?.labels ?? {}).find((label) => label !== ANY_LABEL && !classes.includes(label));
}

function problemOf(scene: SceneEntry, detectors: Record<string, DetectorSpec>): string | undefined {
  if (scene.lower_bound > scene.default_min_score) return 'lower_bound is above default_min_score';
  const unsaid = scene.quality?.figures.find(({ label }) => !scene.labels.includes(label));
  if (unsaid) return `quality has a figure for ${unsaid.label}, which is none of its labels`;
  if (scene.detector === undefined) return scene.enabled ? 'is enabled but names no detector' : undefined;
  const spec = detectors[scene.detector];
  if (spec === undefined) return `names the unknown detector ${scene.detector}`;
  const strange = scene.labels.find((label) => !spec.classes.includes(label));
  if (strange !== undefined) return `label ${strange} is no class of ${scene.detector}`;
  return shapesProblemOf(scene, spec) ?? (spec.calibration && problemOfScores(scene, spec.calibration));
}

function shapesProblemOf({ input_shapes: wanted = [], detector: name }: SceneEntry, spec: DetectorSpec) {
  const known = spec.input.shapes.map(String);
  const strange = wanted.find((shape) => !known.includes(String(shape)));
  return strange === undefined ? undefined : `input shape ${strange.join(' × ')} is none of ${name ?? ''}`;
}

/** A bound that no score can be below promises what is not kept; a label without a curve is on another scale. */
function problemOfScores(scene: SceneEntry, scale: Calibration): string | undefined {
  const unknown = scene.labels.find((label) => findCurve(scale, label) === undefined);
  if (unknown !== undefined) return `label ${unknown} has no curve in the calibration, and there is none for "*"`;
  const lowest = Math.min(...scene.labels.map((label) => lowestScoreOf(scale, label)));
  if (scene.lower_bound >= lowest) return undefined;
  return `lower_bound ${scene.lower_bound} is below ${lowest}, the lowest score behind the floor ${scale.floor}`;
}
