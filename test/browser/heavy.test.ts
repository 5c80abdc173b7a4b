import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller, examples } from '../support/system.ts';
import { serveTask, TASK_ID } from './support/made-up.ts';
import { heapBytes, longTasks } from './support/trace.ts';
import { openBrowser } from './support/visitor.ts';

const TRACKS = 500;
const LONGEST_TASK_MS = 100;
/** A hundred pages take a busy machine longer than the usual limit for what hangs. */
const MANY_PAGES_MS = 900_000;

const { visit } = openBrowser();

/** Signs in to a page that sees a task of 3,000 frames with objects in each, 500 tracks, and a video that plays. */
async function open(): Promise<Awaited<ReturnType<typeof visit>>> {
  const visitor = await visit();
  await visitor.signIn((await Caller.create()).key);
  await serveTask(visitor.page, TRACKS);
  await visitor.page.route('**/v1/vision/links/*', (route) =>
    route.fulfill({ path: join(examples, 'street.mp4'), contentType: 'video/mp4' }),
  );
  return visitor;
}

const currentTime = (page: Page) => page.evaluate<number>(`document.querySelector('video')?.currentTime ?? 0`);

async function showAllTracks(page: Page): Promise<void> {
  for (let loaded = 200; loaded <= TRACKS; loaded += 100) {
    await page.getByRole('button', { name: 'Show more tracks' }).press('Enter');
    await page.getByText(`${loaded} tracks`, { exact: true }).waitFor();
  }
}

test('while a video with 3,000 frames and 500 tracks plays, nothing holds the page up for long', async () => {
  const { page, go, close } = await open();
  await go(`#/tasks/${TASK_ID}`);
  await showAllTracks(page);
  await page
    .getByRole('row', { name: /img src=x/ })
    .first()
    .waitFor();
  const held = await longTasks(page, LONGEST_TASK_MS, async () => {
    await page.evaluate(`document.querySelector('video').play()`);
    await until(async () => (await currentTime(page)) >= 8, { timeoutMs: 120_000 });
  });
  expect(held).toEqual([]);
  await close();
});

test(
  'a hundred changes of the page hold no more memory than ten',
  async () => {
    const { page, go, close } = await open();
    const pages = [`tasks/${TASK_ID}`, 'alarms', 'images', 'tasks', `alarms/new-rule/${TASK_ID}`, 'webhooks', ''];
    const change = async (index: number) => {
      const next = pages[index % pages.length] ?? '';
      await go(`#/${next}`);
      await page.locator('h1').waitFor();
      if (next === pages[0]) await page.locator('.track').first().waitFor();
    };
    const sizes: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      await change(index);
      if (index === 9 || index === 99) {
        await go('#/');
        await page.getByText('Left today').waitFor();
        sizes.push(await heapBytes(page));
      }
    }
    const [few = 0, many = 0] = sizes;
    expect(many / few).toBeLessThanOrEqual(1.2);
    await close();
  },
  MANY_PAGES_MS,
);
