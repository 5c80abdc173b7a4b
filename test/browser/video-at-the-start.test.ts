import { test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { analysed } from './support/video-task.ts';
import { openBrowser } from './support/visitor.ts';

const { visitWith } = openBrowser();

test('this browser plays the example to its fifth second: without that, no page of a video can be judged', async () => {
  const caller = await Caller.create();
  const visitor = await visitWith(caller.key, `#/tasks/${await analysed(caller, 'street')}`);
  const { page } = visitor;
  await page.locator('video').focus();
  await page.keyboard.press('Space');
  const currentTime = () => page.evaluate<number>(`document.querySelector('video').currentTime`);
  await until(async () => (await currentTime()) >= 5);
  await visitor.close();
});
