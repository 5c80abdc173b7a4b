import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller, examples } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { Keyboard } from './support/keyboard.ts';
import { inspect, openBrowser, photograph } from './support/visitor.ts';

const video = join(examples, 'street.mp4');
const { visit, visitWith } = openBrowser();

const currentTime = (page: Page) => page.evaluate<number>(`document.querySelector('video').currentTime`);
/** Pixels of the layer of boxes that are not empty. */
const drawnPixels = (page: Page) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.stage .boxes');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((_value, index) => index % 4 === 3).filter((alpha) => alpha > 0).length;
  })()`);

/** Uploads the example through the page; returns when its task is on screen. */
async function upload(page: Page): Promise<void> {
  await page.locator('input[type=file]').setInputFiles(video);
  await page.getByLabel('Your name for the video').fill('street');
  await page.getByRole('button', { name: 'Upload and detect' }).click();
  await page.getByRole('heading', { name: /^Task / }).waitFor();
}

test('an uploaded video plays with its boxes, and a track leads to its best moment', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/tasks/new-upload');
  await photograph(page, 'new-upload');
  await upload(page);
  await page.locator('.status', { hasText: 'Complete' }).waitFor({ timeout: 180_000 });
  await page.locator('video').focus();
  await page.keyboard.press('Space');
  await until(async () => (await currentTime(page)) >= 5, { timeoutMs: 60_000 });
  expect(await drawnPixels(page)).toBeGreaterThan(0);
  await page.keyboard.press('Space');

  const track = page.locator('.track').last();
  await track.click();
  const bestAt = await until(async () => {
    const at = await currentTime(page);
    return (
      Number(await page.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuenow')) / 1000 === at && at
    );
  });
  expect(bestAt).toBeGreaterThanOrEqual(0);
  await page
    .getByRole('row', { name: /person|car|bus|truck|bicycle/ })
    .first()
    .waitFor();
  const many = await page.locator('.track').count();
  await page.getByLabel('Lowest score').fill('0.95');
  await until(async () => (await page.locator('.track').count()) < many);
  await page.getByLabel('Lowest score').fill('0.5');
  await until(async () => (await page.locator('.track').count()) >= many);
  await inspect(visitor, 'task-video');
  await visitor.close();
});

test('a stream is tested, watched and stopped with the keyboard alone', async () => {
  const camera = await startCamera();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const keys = new Keyboard(page);
  await signIn((await Caller.create()).key);
  await go('#/tasks/new-stream');
  await page.getByLabel('Address of the stream').focus();
  await page.keyboard.type(camera.url);
  await keys.tabTo('Test the address');
  // A busy machine may take longer for a frame than a probe waits.
  await until(
    async () => {
      await page.keyboard.press('Enter');
      // Whatever the answer is, the button has kept the focus.
      await page.getByRole('button', { name: 'Test the address', disabled: false }).waitFor();
      return page.getByText('The stream works').isVisible();
    },
    { timeoutMs: 120_000 },
  );
  await inspect(visitor, 'new-stream');
  await keys.tabTo('Start watching');
  await page.keyboard.press('Enter');
  await page.locator('.stage img').waitFor();
  await page.locator('.bars').waitFor({ state: 'attached' });
  await until(async () => (await drawnPixels(page)) > 0, { timeoutMs: 60_000 });
  await page.getByText(/^Frames arrive since/).waitFor();
  await page.getByRole('slider', { name: 'Position' }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Back to live' }).waitFor();
  await photograph(page, 'task-stream-past');
  await page.getByRole('button', { name: 'Back to live' }).press('Enter');
  await page.locator('.stage img').waitFor();
  await inspect(visitor, 'task-stream');

  camera.disconnect();
  camera.close();
  await page
    .getByText(/Connection lost|no frame arrives/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Stop the task' }).press('Enter');
  await page.getByRole('button', { name: 'Stop it' }).press('Enter');
  await page.locator('.status', { hasText: 'Stopped' }).waitFor();
  await photograph(page, 'task-stream-ended');
  await visitor.close();
});

test('the list shows the tasks of the key, and the way back leads to it', async () => {
  const caller = await Caller.create();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go('#/tasks');
  await page.getByText('No tasks yet').waitFor();
  await photograph(page, 'tasks-empty');
  await go('#/tasks/new-upload');
  await upload(page);
  await page.getByRole('link', { name: 'Back to tasks' }).click();
  await page.getByRole('link', { name: 'street' }).waitFor();
  await inspect(visitor, 'tasks');
  await page.getByLabel('Kind').selectOption('image');
  await page.getByText('No task matches').waitFor();
  await page.getByLabel('Kind').selectOption('');
  await page.getByRole('link', { name: 'street' }).click();
  await page.getByRole('heading', { name: /^Task / }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
  await visitor.close();
});

test('an upload that was interrupted goes on under its key and is charged once', async () => {
  const caller = await Caller.create();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go('#/tasks/new-upload');
  const keys: (string | undefined)[] = [];
  await page.route('**/v1/vision/video-tasks*', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    // The service gets the first one; its answer is lost on the way.
    if (keys.length === 1) await route.fetch();
    await (keys.length <= 2 ? route.abort('connectionreset') : route.continue());
  });
  await upload(page);
  expect(keys.length).toBeGreaterThanOrEqual(3);
  expect(new Set(keys).size).toBe(1);
  expect(await caller.used('video')).toBe(1);
  await visitor.close();
});

test('an upload goes on under its key after the page was loaded again, with the same file', async () => {
  const caller = await Caller.create();
  const visitor = await visitWith(caller.key, '#/tasks/new-upload');
  const { page, signIn, go } = visitor;
  const keys: (string | undefined)[] = [];
  await page.route('**/v1/vision/video-tasks*', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    // Nobody hears of the first one any more.
    if (keys.length > 1) await route.continue();
  });
  await page.locator('input[type=file]').setInputFiles(video);
  await page.getByLabel('Your name for the video').fill('street');
  await page.getByRole('button', { name: 'Upload and detect' }).click();
  await until(() => keys.length === 1);
  await go('#/');
  await page.reload();
  await signIn(caller.key);
  await go('#/tasks/new-upload');
  await page.getByText('An upload of street.mp4 was interrupted. Choose the same file to continue it.').waitFor();
  await page.locator('input[type=file]').setInputFiles(video);
  await page.getByRole('button', { name: 'Continue the upload' }).click();
  await page.getByRole('heading', { name: /street/ }).waitFor();
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(await caller.used('video')).toBe(1);
  await visitor.close();
});

test('a failed task says why, what to do, and what to send to support', async () => {
  const caller = await Caller.create();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.route('**/source', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as Record<string, unknown>;
    const ended = { status: 'failed', reason: 'auth_failed', advice: 'Check user name and password of the camera.' };
    await route.fulfill({ response, json: { ...body, state: 'ended', ended } });
  });
  await page.route(/\/tasks\/[^/]+$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), status: 'failed' } });
  });
  await go('#/tasks/new-upload');
  await upload(page);
  await page.getByText('Check user name and password').waitFor();
  await page.getByText('user name or password rejected').first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy Trace ID' }).click();
  const shown = await page.locator('.copyable', { hasText: 'Trace ID' }).locator('code').innerText();
  expect(shown).toMatch(/^[0-9a-f]{32}$/);
  await until(async () => (await page.evaluate<string>('navigator.clipboard.readText()')) === shown);
  await inspect(visitor, 'task-failed');
  await visitor.close();
});
