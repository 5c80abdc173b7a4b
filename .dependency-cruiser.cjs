/**
 * What each part of a service may import of its own service; whatever is not named here is forbidden. Types are free
 * where a part is handed to another as a dependency: see `typesOf`.
 */
const layers = {
  'main.ts': { values: ['config.ts', 'service.ts', 'db/migrations/list.ts'], typesOf: [] },
  'telemetry.ts': { values: ['domain'], typesOf: [] },
  'config.ts': { values: ['domain', 'redis-config.ts'], typesOf: [] },
  'redis-config.ts': { values: [], typesOf: [] },
  http: { values: ['use-cases', 'domain'], typesOf: ['clients', 'detectors', 'signals.ts'] },
  consumers: { values: ['use-cases', 'domain'], typesOf: ['signals.ts'] },
  jobs: {
    values: ['readers', 'decoding', 'tracking', 'domain', 'db'],
    typesOf: ['use-cases', 'detectors'],
  },
  'use-cases': {
    values: ['decoding', 'domain', 'db'],
    typesOf: ['clients', 'detectors', 'images', 'readers', 'sandbox', 'signals.ts'],
  },
  detectors: { values: ['clients', 'domain'], typesOf: [] },
  decoding: { values: ['sandbox', 'domain'], typesOf: ['inputs', 'readers'] },
  readers: { values: ['inputs', 'sandbox', 'domain'], typesOf: [] },
  images: { values: ['sandbox', 'domain'], typesOf: [] },
  sandbox: { values: [], typesOf: [] },
  inputs: { values: ['sandbox', 'domain'], typesOf: [] },
  tracking: { values: ['domain'], typesOf: [] },
  'signals.ts': { values: ['metrics.ts', 'domain'], typesOf: ['sandbox'] },
  'metrics.ts': { values: ['domain'], typesOf: [] },
  clients: { values: ['domain', 'signals.ts'], typesOf: ['redis-config.ts'] },
  db: { values: ['domain'], typesOf: [] },
  domain: { values: [], typesOf: [] },
};

/** The files that put a service together, service.ts and what it is divided into: they may import every part of it. */
const ROOTS = '/src/(service|background|clients|servers|status|video-jobs|access)\\.ts$';

/** Paths of parts: `config.ts` is a file, everything else a folder. */
const pathsOf = (names) =>
  names.map((name) => (name.endsWith('.ts') ? `${name.replace('.', '\\.')}$` : `${name}/`)).join('|');
const part = (names) => `^services/([^/]+)/src/(${pathsOf(names)})`;
const ownPart = (names) => `^services/$1/src/(${pathsOf(names)})`;

const layerRules = Object.entries(layers).flatMap(([name, { values, typesOf }]) => {
  const from = { path: part([name]), pathNot: '\\.test\\.ts$' };
  const direction = {
    name: `${name.replace('.ts', '')}-keeps-its-direction`,
    comment: `Allowed: ${[...values, ...typesOf.map((other) => `types of ${other}`)].join(', ') || 'nothing of its service'}.`,
    severity: 'error',
    from,
    to: { path: '^services/$1/src/', pathNot: ownPart([name, ...values, ...typesOf]) },
  };
  const typesOnly = {
    name: `${name.replace('.ts', '')}-is-given-what-it-uses`,
    comment: 'Clients, detectors and signals are constructed once and handed over; only their types are imported.',
    severity: 'error',
    from,
    to: { path: ownPart(typesOf), dependencyTypesNot: ['type-only'] },
  };
  return typesOf.length === 0 ? [direction] : [direction, typesOnly];
});

/** Modules that open connections. */
const CONSTRUCTORS = [
  'shared/src/db/knex',
  'shared/src/http/(app|server|service-client)',
  'kafka/src/(kafka|producer|relay|consumer|batch-consumer)',
  'objects/src/object-store',
  'creation/src/(inference-client|quota-client)',
];

const shared = (names) => `^packages/shared/src/(${names.join('|')})`;

/** What each package may import of the others; the command line of operators, visionctl, may import all of them. */
const packages = {
  contracts: [],
  shared: ['contracts'],
  kafka: ['contracts', 'shared'],
  objects: ['contracts', 'shared'],
  creation: ['contracts', 'shared', 'kafka', 'objects'],
  streams: ['contracts', 'shared'],
  client: [],
  console: ['client'],
};

const packageRules = Object.entries(packages).map(([name, others]) => ({
  name: `${name}-keeps-its-direction`,
  comment: `Allowed: ${others.join(', ') || 'no other package'}. Its tests keep the direction as well.`,
  severity: 'error',
  from: { path: `^packages/${name}/` },
  to: { path: '^(packages|services)/', pathNot: `^packages/(${[name, ...others].join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'files-say-what-they-do',
      severity: 'error',
      from: {},
      to: { path: '(^|/)(utils?|helpers?|common|misc)\\.ts$', pathNot: 'node_modules' },
    },
    {
      name: 'services-share-nothing-but-packages',
      comment: 'A service never imports another service.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'shared-knows-no-service',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    ...packageRules,
    {
      name: 'client-runs-in-browsers',
      comment: 'The client of the public API has no module of Node.js; its tests may have them.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'console-runs-in-browsers',
      comment: 'The console has no module of Node.js; its build and its tests may have them.',
      severity: 'error',
      from: { path: '^packages/console/src/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-is-for-callers',
      comment: 'Only the console, tests, benchmarks and examples call the service from outside.',
      severity: 'error',
      from: { path: '^(packages|services)/[^/]+/src/', pathNot: '^packages/(client|console)/' },
      to: { path: '^packages/client/' },
    },
    ...layerRules,
    {
      name: 'every-folder-has-its-layer',
      comment: 'A new folder of a service is named in `layers`, with what it may import.',
      severity: 'error',
      from: {
        path: '^services/[^/]+/src/',
        pathNot: [part(Object.keys(layers)), ROOTS, '\\.test\\.ts$'],
      },
      to: {},
    },
    {
      name: 'service-constructs-the-clients',
      comment: 'service.ts and what it is divided into construct everything; clients construct what is inside them.',
      severity: 'error',
      from: {
        path: '^services/[^/]+/src/',
        pathNot: [ROOTS, '/src/config\\.ts$', '/src/clients/', '\\.test\\.ts$'],
      },
      to: { path: CONSTRUCTORS.map((name) => `^packages/${name}\\.ts$`), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'Decisions need no I/O: domain imports domain, errors and contracts only.',
      severity: 'error',
      from: { path: part(['domain']), pathNot: '\\.test\\.ts$' },
      to: {
        path: '.',
        pathNot: [
          ownPart(['domain']),
          '^packages/contracts/src/',
          shared(['secret-box\\.ts$', 'net/strict-url\\.ts$']),
          '^packages/streams/src/(container-format|source-error)\\.ts$',
          'node_modules/(zod|ipaddr\\.js)/',
          '^(node:)?(crypto|url|util|buffer|zlib)$',
        ],
      },
    },
    {
      name: 'use-cases-know-no-transport',
      severity: 'error',
      from: { path: part(['use-cases', 'domain', 'db']) },
      to: { path: ['node_modules/(express|kafkajs|multer|undici|minio|ioredis)/', '^(node:)?https?$'] },
    },
    {
      name: 'kafkajs-in-one-place',
      severity: 'error',
      from: { pathNot: ['^packages/kafka/src/', '/test/'] },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'minio-in-one-place',
      severity: 'error',
      from: { pathNot: ['^packages/objects/src/', '/test/'] },
      to: { path: 'node_modules/minio/' },
    },
    {
      name: 'contracts-import-zod-only',
      comment: 'Beside zod only what the bytes of segments are compressed with.',
      severity: 'error',
      from: { path: '^packages/contracts/src/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: ['^packages/contracts/src/', 'node_modules/zod/', '^(node:)?zlib$'] },
    },
    {
      name: 'asynchronous-tools-know-no-store',
      comment: 'The asynchronous tools serve everybody, so they know neither stores nor transports.',
      severity: 'error',
      from: { path: shared(['async/']), pathNot: '\\.test\\.ts$' },
      to: { path: shared(['db/', 'http/', 'net/']) },
    },
    {
      name: 'database-and-addresses-know-no-http',
      severity: 'error',
      from: { path: shared(['db/', 'net/']) },
      to: { path: shared(['http/']) },
    },
    {
      name: 'http-knows-no-database',
      severity: 'error',
      from: { path: shared(['http/']), pathNot: '\\.test\\.ts$' },
      to: { path: shared(['db/', 'audit/']) },
    },
    {
      name: 'messages-know-no-http',
      comment:
        'Except the routes by which operators reach the outbox and the dead letters, and tokens for the brokers.',
      severity: 'error',
      from: { path: '^packages/kafka/src/', pathNot: ['^packages/kafka/src/(http|oauth)/', '\\.test\\.ts$'] },
      to: { path: shared(['http/']) },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { pathNot: ['/test/', '^test/', '^bench/', '^packages/[^/]+/src/testing/', '\\.test\\.ts$'] },
      to: { path: '^packages/[^/]+/src/testing/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.check.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@vision/source', 'import', 'node', 'default'],
    },
  },
};
