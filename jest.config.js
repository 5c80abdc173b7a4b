const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testEnvironmentOptions: { customExportConditions: ['@vision/source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['/dist/', '/.local/'],
};

/**
 * By cost: pure unit tests, alerts and dashboards with promtool, one service on real infrastructure, the same while
 * processes die and stores are away, the whole system through the gateway, the console in a browser, and what an
 * attacker sends it.
 */
export default {
  // Ends a test that hangs and measures nothing: no test or hook sets a shorter one, as machines differ in speed.
  testTimeout: 240_000,
  // A worker that has nothing open needs more than the default of 0.5 s to exit on a busy machine.
  workerGracefulExitTimeout: 60_000,
  // A process that starts another one copies the tables of its own memory first: tests start hundreds.
  workerIdleMemoryLimit: '500MB',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{packages,services}/*/src/**/*.test.ts',
        '<rootDir>/test/fuzz/**/*.test.ts',
        '<rootDir>/test/faults/**/*.test.ts',
        '<rootDir>/deploy/**/*.test.ts',
        '<rootDir>/{bench,scripts}/**/*.test.ts',
        '<rootDir>/test/migrations/**/*.test.ts',
        '<rootDir>/test/beside/**/*.test.ts',
        '<rootDir>/test/rotation/**/*.test.ts',
        '<rootDir>/test/why/**/*.test.ts',
        '<rootDir>/test/support/**/*.test.ts',
        '<rootDir>/scripts/**/*.test.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', '\\.promtool\\.test\\.ts$'],
    },
    { ...common, displayName: 'rules', testMatch: ['<rootDir>/deploy/**/*.promtool.test.ts'] },
    {
      ...common,
      displayName: 'integration',
      testEnvironment: '<rootDir>/test/support/names-open-handles.js',
      testMatch: ['<rootDir>/{packages,services}/*/test/**/*.test.ts', '<rootDir>/test/simulation/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.outage\\.test\\.ts$'],
    },
    {
      ...common,
      displayName: 'outages',
      testEnvironment: '<rootDir>/test/support/names-open-handles.js',
      testMatch: ['<rootDir>/{packages,services}/*/test/**/*.outage.test.ts'],
    },
    // Each runs the commands of a gate on a copy of the repository.
    { ...common, displayName: 'gates', testMatch: ['<rootDir>/test/gates/**/*.test.ts'] },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      globalTeardown: '<rootDir>/test/support/verify-ledger.ts',
    },
    { ...common, displayName: 'browser', testMatch: ['<rootDir>/test/browser/**/*.test.ts'] },
    {
      ...common,
      displayName: 'attacks',
      testMatch: ['<rootDir>/test/attacks/**/*.test.ts'],
      globalTeardown: '<rootDir>/test/support/verify-ledger.ts',
    },
  ],
};
