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
 * By cost: pure unit tests, alerts and dashboards with promtool, one service on real infrastructure, the whole system
 * through the gateway, and what an attacker sends it.
 */
export default {
  // Real stores on a busy machine: a test that waits for a fact may take its time, one that hangs is still seen.
  testTimeout: 60_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{packages,services}/*/src/**/*.test.ts',
        '<rootDir>/test/fuzz/**/*.test.ts',
        '<rootDir>/deploy/**/*.test.ts',
        '<rootDir>/test/migrations/**/*.test.ts',
        '<rootDir>/test/beside/**/*.test.ts',
        '<rootDir>/test/why/**/*.test.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', '\\.promtool\\.test\\.ts$'],
    },
    { ...common, displayName: 'rules', testMatch: ['<rootDir>/deploy/**/*.promtool.test.ts'] },
    { ...common, displayName: 'integration', testMatch: ['<rootDir>/{packages,services}/*/test/**/*.test.ts'] },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      globalTeardown: '<rootDir>/test/support/verify-ledger.ts',
    },
    {
      ...common,
      displayName: 'attacks',
      testMatch: ['<rootDir>/test/attacks/**/*.test.ts'],
      globalTeardown: '<rootDir>/test/support/verify-ledger.ts',
    },
  ],
};
