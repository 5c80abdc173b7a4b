/** A run whose results a page shows. */
export interface Measurement {
  /** The target of make that takes it, with the arguments that tell it from others. */
  command: string;
  /** The page that carries its record. */
  page: string;
  /** Pathspecs of git: the result is stale when one of these files has changed since the run. */
  files: readonly string[];
}

const SOURCES = ['services/*/src/*', 'packages/*/src/*'];
const DETECTION = ['services/inference/src/*', 'services/inference/models/*', 'config/scenes.json'];
const RESULTS = ['services/results/src/*', 'packages/*/src/*'];

const PERFORMANCE = 'docs/performance.md';
const ACCURACY = 'docs/accuracy.md';

/** Page and files of each benchmark of `bench/`, by its name. */
const benchmarks: Record<string, [page: string, files: readonly string[]]> = {
  accuracy: [ACCURACY, [...DETECTION, 'packages/visionctl/src/calibration/*', 'bench/accuracy/*']],
  'eight-bit': [ACCURACY, [...DETECTION, 'packages/visionctl/src/calibration/*', 'bench/accuracy/*']],
  'alarm-webhooks': [PERFORMANCE, [...RESULTS, 'services/notify/src/*', 'packages/kafka/src/*']],
  audits: [
    PERFORMANCE,
    [
      'services/results/src/db/*',
      'services/results/src/use-cases/operate/*',
      'packages/shared/src/*',
      'packages/objects/src/*',
      'bench/segment-audits.ts',
    ],
  ],
  backtests: [PERFORMANCE, [...RESULTS, 'bench/scale/*']],
  flood: [
    PERFORMANCE,
    [
      ...SOURCES,
      'bench/flood-clients.ts',
      'bench/flood/*',
      'bench/expensive-pictures.ts',
      'test/support/hostile-streams/*',
    ],
  ],
  gateway: [PERFORMANCE, ['services/gateway/src/*', 'packages/*/src/*']],
  images: [PERFORMANCE, SOURCES],
  ingest: [PERFORMANCE, RESULTS],
  outbox: [PERFORMANCE, ['packages/kafka/src/*', 'packages/shared/src/db/*']],
  page: [PERFORMANCE, RESULTS],
  peer: [PERFORMANCE, [...SOURCES, 'bench/peer/*']],
  quota: [PERFORMANCE, ['services/quota/src/*', 'packages/shared/src/db/*']],
  rules: [PERFORMANCE, ['services/results/src/domain/*', 'packages/contracts/src/*']],
  scale: [PERFORMANCE, [...SOURCES, 'bench/scale/*']],
  'scale-frames': ['docs/scaling.md', [...RESULTS, 'bench/scale/*']],
  segments: [PERFORMANCE, [...RESULTS, 'bench/segment-ingest.ts']],
  sizing: ['docs/sizing.md', SOURCES],
  streams: [PERFORMANCE, [...DETECTION, 'packages/streams/src/*', 'bench/reader-costs.ts']],
  telemetry: [PERFORMANCE, SOURCES],
  tracking: [ACCURACY, ['services/inference/src/tracking/*', 'bench/tracking/*']],
  uploads: [PERFORMANCE, ['services/gateway/src/*', 'services/tasks/src/*', 'packages/*/src/*']],
  video: [PERFORMANCE, SOURCES],
  watch: [PERFORMANCE, [...RESULTS, ...DETECTION]],
  webhooks: [PERFORMANCE, ['services/notify/src/*', 'packages/*/src/*', 'bench/webhooks/*']],
};

export const benchCommand = (name: string) => `bench BENCH=${name}`;

/** Every measurement that a page shows. A new page of this kind gets its line here. */
export const measurements: readonly Measurement[] = [
  { command: 'why', page: 'docs/why.md', files: [...SOURCES, 'test/why/*'] },
  { command: 'faults', page: 'docs/reliability.md', files: [...SOURCES, 'test/faults/*'] },
  { command: 'rotate', page: 'docs/kubernetes.md', files: [...SOURCES, 'test/rotation/*'] },
  {
    command: 'attacks',
    page: 'docs/security.md',
    files: [...SOURCES, 'test/attacks/*', 'test/support/hostile-streams/*'],
  },
  { command: 'fuzz', page: 'docs/security.md', files: [...SOURCES, 'test/fuzz/*.ts'] },
  {
    command: 'images',
    page: 'docs/containers.md',
    files: [
      'Dockerfile',
      'package-lock.json',
      'deploy/images/*',
      'scripts/debian-base.sh',
      'services/inference/models/*',
    ],
  },
  ...Object.entries(benchmarks).map(([name, [page, files]]) => ({
    command: benchCommand(name),
    page,
    files: [...files, `bench/${name}.bench.ts`],
  })),
];

export function measurementOf(command: string): Measurement {
  const found = measurements.find((measurement) => measurement.command === command);
  if (!found) throw new Error(`scripts/release/measurements.ts has no measurement "${command}"`);
  return found;
}

/** The table of `make release-check`. */
export const RELEASE_PAGE = 'docs/release-check.md';

/** Files that measurements write: they differ from the last commit after a run, and the code does not. */
export const writtenByRuns: readonly string[] = [
  ...new Set(measurements.map(({ page }) => page)),
  RELEASE_PAGE,
  'docs/why.png',
  'test/attacks/last-run.json',
  'test/fuzz/last-run.json',
];
