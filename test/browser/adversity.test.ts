import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { hostile, serveTask, TASK_ID } from './support/made-up.ts';
import { inspect, isTooWide, openBrowser, photograph, seriousFindings } from './support/visitor.ts';

const { visit } = openBrowser();

const HOUR_MS = 3_600_000;
/** The clock of the page alone is wrong; its timers run as they do. */
const shiftClock = (ms: number) => `(() => {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...parts) { super(...(parts.length === 0 ? [Real.now() + ${ms}] : parts)); }
    static now() { return Real.now() + ${ms}; }
  };
})()`;

/** The time of day of the frame on the page, in milliseconds of the day. */
async function frameTime(page: Page): Promise<number> {
  const text = await page.getByText(/^Frame of /).innerText();
  const [hours = 0, minutes = 0, seconds = 0] = (/\d\d:\d\d:\d\d/.exec(text)?.[0] ?? '').split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

test('a clock that is an hour wrong changes nothing: live image, timeline and test go by the times of frames', async () => {
  const camera = await startCamera();
  const caller = await Caller.create({ video_tasks_per_day: 5 });
  const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
  const taskId = String(body['task_id']);
  for (const shift of [HOUR_MS, -HOUR_MS]) {
    const visitor = await visit({ timezoneId: 'UTC' });
    const { page, signIn, go } = visitor;
    await page.addInitScript(shiftClock(shift));
    await page.reload();
    await signIn(caller.key);
    await go(`#/tasks/${taskId}`);
    await page.locator('.bars').waitFor({ state: 'attached' });
    await page.getByText(/^Frames arrive since/).waitFor();
    const away = Math.abs((await frameTime(page)) - (Date.now() % (24 * HOUR_MS)));
    expect(Math.min(away, 24 * HOUR_MS - away)).toBeLessThan(HOUR_MS / 2);
    await go(`#/alarms/new-rule/${taskId}`);
    await until(
      async () => {
        await page.getByRole('button', { name: 'Test on stored frames' }).click();
        await page.getByText(/^(\d+|No) alarms? in /).waitFor();
        return (await page.locator('.alarm-mark').count()) > 0;
      },
      { timeoutMs: 60_000 },
    );
    await visitor.close();
  }
  await caller.stop(taskId);
});

test('the back button leads through the pages in their order', async () => {
  const visitor = await visit();
  const { page, signIn } = visitor;
  await signIn((await Caller.create()).key);
  for (const name of ['Tasks', 'Alarms', 'Webhooks'] as const) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }
  for (const name of ['Alarms', 'Tasks', 'Start'] as const) {
    await page.goBack();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    expect(await page.getByRole('link', { name, exact: true }).getAttribute('aria-current')).toBe('page');
  }
  await page.goForward();
  await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
  await visitor.close();
});

test('a form outlives a lost connection, and goes on when it is back', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const caller = await Caller.create();
  await signIn(caller.key);
  await go('#/alarms/new-rule');
  await page.getByLabel('Raise an alarm when').selectOption('source_down');
  await page.getByLabel('No frames for at least').fill('90');
  await page.getByLabel('Name of the rule').fill('Camera');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Save the rule' }).click();
  // After all attempts of the client; a longer loss is no different.
  await page.getByText('No connection to the service').waitFor();
  await photograph(page, 'rule-offline');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Save the rule' }).click();
  await page.getByRole('link', { name: 'Camera' }).waitFor();
  await page.getByText('Connection lost. The console keeps trying.').waitFor({ state: 'hidden' });
  const { body } = await caller.get('/v1/vision/alarm-rules');
  expect(body['items']).toMatchObject([{ name: 'Camera', when: { kind: 'source_down', for_ms: 90_000 } }]);
  await visitor.close();
});

test('a new rule cannot be saved before the tasks that it could apply to are known', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  const release = Promise.withResolvers<undefined>();
  await page.route('**/v1/vision/tasks?*', async (route) => {
    await release.promise;
    await route.continue();
  });
  await go('#/alarms/new-rule');
  await page.getByLabel('Raise an alarm when').selectOption('source_down');
  const save = page.getByRole('button', { name: 'Save the rule' });
  expect(await save.isDisabled()).toBe(true);
  release.resolve(undefined);
  await page.getByText('There is no video task yet').waitFor();
  expect(await page.getByLabel('The rule applies to').inputValue()).toBe('all');
  expect(await save.isDisabled()).toBe(false);
  await visitor.close();
});

test('500 tracks with hostile labels are text, each within reach', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 500);
  await go(`#/tasks/${TASK_ID}`);
  for (const loaded of [200, 300, 400, 500]) {
    await page.getByRole('button', { name: 'Show more tracks' }).press('Enter');
    await page.getByText(`${loaded} tracks`, { exact: true }).waitFor();
  }
  expect(await page.locator('.track').count()).toBe(500);
  // The table says what it leaves out of 24 objects.
  await page.getByRole('cell', { name: 'and 4 more' }).waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(await page.title()).toMatch(/^Task /);
  await page.locator('.track').last().press('Enter');
  expect(await page.locator('.track').last().getAttribute('aria-pressed')).toBe('true');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await isTooWide(page)).toBe(false);
  await visitor.close();
});

test('of a video that the browser cannot play, the timeline and the tracks stay and lead to its moments', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 9);
  // What the link of the video leads to.
  await page.route('**/v1/vision/links/*', (route) => route.fulfill({ body: 'no video', contentType: 'video/mp4' }));
  await go(`#/tasks/${TASK_ID}`);
  await page.getByText('This browser cannot play the video (h264).').waitFor();
  expect(await page.locator('video').count()).toBe(0);
  await page.locator('.bars').waitFor({ state: 'attached' });
  await page.locator('.track').nth(5).press('Enter');
  const position = page.getByRole('slider', { name: 'Position' });
  await until(async () => (await position.getAttribute('aria-valuenow')) === '5000');
  expect(await page.locator('.track').count()).toBe(9);
  await inspect(visitor, 'video-unplayable');
  await visitor.close();
});

test('names of rules, cameras and labels in alarms are text, whatever they hold', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 1);
  for (const fragment of ['#/alarms', '#/alarms/rules/made-up', '#/alarms/new-rule']) {
    await go(fragment);
    await page
      .getByText(hostile[0] ?? '')
      .first()
      .waitFor({ state: 'attached' });
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect([fragment, width, await isTooWide(page)]).toEqual([fragment, width, false]);
    }
    expect([fragment, await seriousFindings(page)]).toEqual([fragment, []]);
  }
  await go('#/alarms');
  await page.getByText('No alarm').or(page.getByRole('listitem').first()).first().waitFor();
  await photograph(page, 'alarms-hostile');
  await visitor.close();
});
