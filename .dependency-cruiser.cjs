const inService = (layer) => `^services/([^/]+)/src/${layer}`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'services-share-nothing-but-shared',
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
    {
      name: 'domain-is-pure',
      comment: 'Decisions need no I/O: domain imports domain, errors and contracts only.',
      severity: 'error',
      from: { path: inService('domain/'), pathNot: '\\.test\\.ts$' },
      to: {
        path: '.',
        pathNot: [
          '^services/$1/src/domain/',
          '^packages/shared/src/(errors|contracts/|net/address-policy|secret-box)',
          'zod',
          'ipaddr',
          '^node:(crypto|url|net|util|buffer)$',
          '^(crypto|url|net|util|buffer)$',
        ],
      },
    },
    {
      name: 'use-cases-know-no-transport',
      severity: 'error',
      from: { path: inService('use-cases/') },
      to: {
        path: ['^services/[^/]+/src/(http|consumers)/', 'node_modules/(express|kafkajs|multer)/'],
      },
    },
    {
      name: 'db-knows-no-story',
      severity: 'error',
      from: { path: inService('(db|clients)/') },
      to: { path: inService('(use-cases|http|consumers)/') },
    },
    {
      name: 'kafkajs-in-one-place',
      severity: 'error',
      from: { pathNot: ['^packages/shared/src/(messaging|testing)/', '/test/'] },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'contracts-import-zod-only',
      severity: 'error',
      from: { path: '^packages/shared/src/contracts/' },
      to: { pathNot: ['^packages/shared/src/contracts/', 'node_modules/zod/'] },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { pathNot: ['/test/', '^test/', '^bench/', '^packages/shared/src/testing/', '\\.test\\.ts$'] },
      to: { path: '^packages/shared/src/testing/' },
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
