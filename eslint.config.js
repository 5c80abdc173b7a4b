import n from 'eslint-plugin-n';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', '.local/', 'node_modules/', 'coverage/', 'test/client/public-api.ts'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.check.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { n },
    rules: {
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'n/no-process-env': 'error',
      'no-console': 'error',
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
      '**/telemetry.ts',
      '**/src/testing/**',
      '**/test/**',
      'bench/**',
      'scripts/**',
      'examples/**',
      'deploy/**',
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
      'packages/visionctl/**',
      'test/support/**',
      'test/faults/**',
    ],
    rules: { 'no-console': 'off' },
  },
  { files: ['**/*.js', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
);
