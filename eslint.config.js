import tseslint from 'typescript-eslint'

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
)
