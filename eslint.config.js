import n from 'eslint-plugin-n';
import tseslint from 'typescript-eslint';

/** Habits of this repository that no rule of a package covers. */
const habits = [
  {
    selector: 'ImportSpecifier[importKind="type"]',
    message: 'Import types in a statement of their own: import type { … }.',
  },
  {
    selector: 'NewExpression[callee.name="AppError"]',
    message: 'Make errors with fail.* of @vision/contracts/errors.',
  },
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  {
    selector: ':matches(ExportAllDeclaration, ExportNamedDeclaration[source][exportKind="value"])',
    message: 'Import from the file that has it; there are no barrels.',
  },
  {
    selector: 'SpreadElement > :matches(ObjectExpression, ArrayExpression)',
    message: 'Write the members; do not pack lines with spreads.',
  },
  {
    selector: 'MemberExpression[object.name="jest"][property.name=/^(mock|unstable_mockModule|doMock)$/]',
    message: 'Use a real part or a double over a socket; modules are not mocked.',
  },
  {
    selector:
      'CallExpression[callee.property.name=/^(debug|info|warn|error|fatal)$/] > ObjectExpression > Property[key.name=/[A-Z]/]',
    message: 'Fields of log lines are in snake case; docs/logs.md lists them.',
  },
  {
    selector: 'CallExpression[callee.property.name=/^create(Observable)?(Counter|UpDownCounter|Gauge|Histogram)$/]',
    message: 'Declare the metric and make its instrument with @vision/shared/telemetry/instruments.',
  },
  {
    selector: 'CallExpression[callee.object.name="Promise"][callee.property.name="race"]',
    message:
      'Use atMost or unlessAborted of @vision/shared/async, or say in a disable comment who cleans up after the loser.',
  },
];

const withHabits = (...more) => ['error', ...habits, ...more];
const withoutHabit = (part) => ['error', ...habits.filter(({ selector }) => !selector.includes(part))];

const clock = {
  selector:
    ':matches(CallExpression[callee.object.name="Date"][callee.property.name="now"], NewExpression[callee.name="Date"][arguments.length=0])',
  message: 'SQL says vision_now(); a decision gets the time as an argument.',
};

const taskStatus = {
  selector: 'CallExpression[callee.property.name="update"] > ObjectExpression > Property[key.name="status"]',
  message: 'Tasks move by moveTask only.',
};

/** A rule of this repository: a comment that switches a rule off for a line says why, behind `--`. */
const disablesSayWhy = {
  create: ({ sourceCode, report }) => ({
    Program: () => {
      for (const comment of sourceCode.getAllComments())
        if (/^\s*eslint-disable(?!.*\s--\s)/s.test(comment.value))
          report({ loc: comment.loc, message: 'Say behind `--` why the rule does not apply here.' });
    },
  }),
};

export default tseslint.config(
  { ignores: ['**/dist/', '.local/', 'node_modules/', 'coverage/', 'packages/client/src/public-api.ts'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.check.json', './packages/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { n, house: { rules: { 'disables-say-why': disablesSayWhy } } },
    rules: {
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      // Code is wrapped by prettier; comments are wrapped by hand.
      'max-len': [
        'error',
        { code: 1000, comments: 120, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true },
      ],
      'n/no-process-env': 'error',
      'no-console': 'error',
      // TypeScript finds them itself, in files that it reads.
      'no-dupe-keys': 'error',
      'no-restricted-syntax': withHabits(),
      'house/disables-say-why': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // `Promise.withResolvers<void>()` is not recognised as a generic type argument.
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    files: [
      '**/config.ts',
      '**/*-config.ts',
      '**/telemetry.ts',
      '**/without-runtime-telemetry.ts',
      '**/src/testing/**',
      '**/test/**',
      'bench/**',
      'scripts/**',
      'examples/**',
      'deploy/**',
      'charts/**',
    ],
    rules: { 'n/no-process-env': 'off' },
  },
  {
    files: ['**/*.test.ts', '**/test/**', 'bench/**'],
    rules: { 'max-lines': ['error', { max: 400 }], 'max-lines-per-function': 'off' },
  },
  {
    files: [
      'bench/**',
      'scripts/**',
      'examples/**',
      'deploy/**',
      'charts/**',
      'packages/visionctl/**',
      'test/beside/**',
      'test/support/**',
      'test/faults/**',
      'test/fresh/**',
      'test/fuzz/**',
      'test/recovery/**',
      'test/rotation/**',
      'test/simulation/**',
    ],
    rules: { 'no-console': 'off' },
  },
  { files: ['**/*.js', '**/*.cjs', '**/*.mjs'], ...tseslint.configs.disableTypeChecked },
  {
    // Where they are made, and where those of other services are passed on.
    files: ['packages/contracts/src/errors.ts', 'packages/shared/src/http/service-client.ts'],
    rules: { 'no-restricted-syntax': withoutHabit('AppError') },
  },
  {
    // What callers import: the one file that gathers others.
    files: ['packages/client/src/client.ts'],
    rules: { 'no-restricted-syntax': withoutHabit('ExportNamedDeclaration') },
  },
  {
    files: ['services/*/src/{db,domain}/**'],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-syntax': withHabits(clock) },
  },
  {
    files: ['services/tasks/src/db/**'],
    ignores: ['**/*.test.ts', 'services/tasks/src/db/move-task.ts'],
    rules: { 'no-restricted-syntax': withHabits(clock, taskStatus) },
  },
  { files: ['packages/client/src/public-api.ts'], rules: { 'max-len': 'off' } },
  // Every text of the console.
  { files: ['packages/console/src/strings.ts'], rules: { 'max-lines': 'off' } },
  { files: ['packages/shared/src/telemetry/instruments.ts'], rules: { 'no-restricted-syntax': 'off' } },
  // Tools read these by their default export.
  {
    files: ['*.config.js', '**/*.d.ts', 'test/support/{verify-ledger.ts,first-and-last.js,names-open-handles.js}'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
