import { expect, test } from '@jest/globals';
import { document } from './report.ts';

const run = { seed: 7, minutes: 2, strikes: [], verdicts: [], creates: [], facts: [] };

test('the page names the release of the second processes, and how to run it again', () => {
  const page = document({ ...run, older: '0.3.0' });
  expect(page).toContain('`make faults SEED=7 MINUTES=2 BESIDE=1`');
  expect(page).toContain('- The second process of each service was of release 0.3.0.');
});

test('the page of a run of this code alone names no other release', () => {
  const page = document(run);
  expect(page).toContain('`make faults SEED=7 MINUTES=2`');
  expect(page).not.toMatch(/BESIDE|of release/);
});

test('the page says that the faults of brokers need three of them', () => {
  expect(document(run)).toMatch(/"kafka: a broker is lost .*" and "kafka: fewer replicas .*" need `BROKERS=3`/);
});
