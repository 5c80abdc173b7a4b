import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The scenarios read where the system is when they are loaded; nothing is asked of it here.
const nowhere = 'http://127.0.0.1:1';
Object.assign(process.env, { BASE_URL: nowhere, ADMIN_URL: nowhere, ADMIN_TOKEN: 'none' });
const { scenarios } = await import('./scenarios/list.ts');
const document = readFileSync(join(import.meta.dirname, '../../docs/why.md'), 'utf8');

test('docs/why.md has every scenario, with the answer that it has to give', () => {
  const sections = document.split(/^## /m).slice(1);
  expect(sections.map((section) => section.split('\n')[0])).toEqual(scenarios.map(({ title }) => title));
  for (const [index, { expected }] of scenarios.entries()) {
    const { upstream, service, outcome } = expected;
    expect(sections[index]).toMatch(new RegExp(`^Which upstream: +${upstream}[ ,].*asked by ${service}$`, 'm'));
    // `make why` compares the number itself; a page of an older commit may show another one.
    expect(sections[index]).toMatch(new RegExp(`^Which limit: +\\d+ ms: ${outcome},`, 'm'));
  }
});
