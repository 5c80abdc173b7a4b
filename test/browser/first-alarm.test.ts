import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { Keyboard } from './support/keyboard.ts';
import { openBrowser, photograph } from './support/visitor.ts';

const MOST_PRESSES = 40;
const MOST_DECISIONS = 6;

const { visit } = openBrowser();

/**
 * A viewer with a key and a camera, and without a mouse. Every element that gets a value or is chosen is a decision,
 * the test of the rule and its saving included; Tab and the way of the focus are not.
 */
test('from the sign-in to a tested alarm in 40 key presses and six decisions, each step named on screen', async () => {
  const camera = await startCamera();
  const { key } = await Caller.create({ video_tasks_per_day: 5 });
  const visitor = await visit();
  const { page } = visitor;
  const keys = new Keyboard(page);
  const step = (name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor();

  await step('Sign in');
  await keys.tabTo('API key');
  await keys.paste(key);
  await keys.press('Enter');

  await step('Start');
  await page.getByText('of 5').waitFor();
  await keys.tabTo('Watch a stream');
  await keys.press('Enter');

  await step('Watch a stream');
  await keys.tabTo('Address of the stream');
  await keys.paste(camera.url);
  await keys.press('Enter');

  await step(/^Task /);
  await page.locator('.track', { hasText: 'person' }).first().waitFor();
  // Enough frames for the test of a rule; the page says how many.
  const stored = page.locator('.facts div', { hasText: 'Frames stored' }).locator('dd');
  await until(async () => Number(await stored.innerText()) >= 15, { timeoutMs: 60_000 });
  await keys.tabTo('New alarm rule');
  await keys.press('Enter');

  await step('New rule');
  for (const name of [/^Step 1: /, /^Step 2: /, /^Step 3: /, /^Step 4: test/, /^Step 5: save/]) await step(name);
  await page.getByText('Nothing is stored or sent.').waitFor();
  await keys.tabTo('Test on stored frames');
  do {
    // Again, with the frames that came meanwhile, until someone has been in view for a second.
    await keys.press('Enter');
    await page.getByText(/^(\d+|No) alarms? in /).waitFor();
    await page.getByRole('button', { name: 'Test on stored frames', disabled: false }).waitFor();
  } while (keys.presses < MOST_PRESSES && (await page.locator('.alarm-mark').count()) === 0);
  await photograph(page, 'first-alarm');
  await keys.tabTo('Save the rule');
  await keys.press('Enter');

  await step('Alarms');
  await page
    .getByRole('listitem', { name: /^person at / })
    .first()
    .waitFor();
  expect(keys.decisions.size).toBeLessThanOrEqual(MOST_DECISIONS);
  expect(keys.presses).toBeLessThanOrEqual(MOST_PRESSES);
  await visitor.close();
});
