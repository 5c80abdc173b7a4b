import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { stopTimesOf } from './config.ts';

test('docs/flow.md lists the stop phases of tasks in their order', () => {
  const flow = readFileSync(new URL('../../../docs/flow.md', import.meta.url), 'utf8');
  const [section = ''] = /^## SIGTERM$[^]*?(?=^## )/m.exec(flow) ?? [];
  const described = [...section.matchAll(/^\d+\. `(\w+)`/gm)].map(([, phase]) => phase);
  expect(described).toEqual(Object.keys(stopTimesOf({ DRAIN_DELAY_MS: 0, SHUTDOWN_GRACE_MS: 0 })));
});
