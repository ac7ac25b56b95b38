import svelte from 'eslint-plugin-svelte';
import typescript from 'typescript-eslint';

const money = 'A number of the exchange never passes through a float: use client/decimal.ts, or do it in pixels.ts or ticks.ts.';

// Numbers of the exchange are texts and BigInts. Only pixels.ts (drawing) and ticks.ts (whole ticks and lots) convert.
const numbers = {
  'no-restricted-globals': [
    'error',
    { name: 'Number', message: money },
    { name: 'parseFloat', message: money },
    { name: 'parseInt', message: money },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: "UnaryExpression[operator='+']", message: money },
    { selector: 'SvelteMustacheTag[kind="raw"]', message: 'Texts are text nodes, never markup.' },
    { selector: "SvelteAttribute[key.name='style']", message: 'The content policy refuses style attributes; use style: directives.' },
    { selector: "AssignmentExpression[left.property.name='innerHTML']", message: 'Texts are text nodes, never markup.' },
  ],
};

export default typescript.config(
  { ignores: ['node_modules/', 'dist/'] },
  ...typescript.configs.strict,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: typescript.parser } },
  },
  {
    rules: {
      ...numbers,
      'max-lines': ['error', 600],
      'no-console': 'error',
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['**/pixels.ts', '**/ticks.ts', 'test/**', '*.config.*'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-syntax': 'off' },
  },
);
