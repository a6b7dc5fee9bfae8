import tseslint from 'typescript-eslint'

/** What Node has in every module, and the scripts use. */
const nodeGlobals = Object.fromEntries(
  ['Buffer', 'console', 'performance', 'process', 'URL'].map((name) => [name, 'readonly']),
)

export default tseslint.config(
  { ignores: ['dist/', 'src/gen/', '.cache/', 'test/docs/generated/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.build.json', './tsconfig.test.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^fp-ts$|^fp-ts/(?!lib/\\w+\\.js$)|^io-ts/',
              message: 'Plain Node resolves only fp-ts/lib/X.js and io-ts.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    extends: [tseslint.configs.recommended],
    languageOptions: { globals: nodeGlobals },
    rules: { 'no-undef': 'error', eqeqeq: 'error' },
  },
)
