import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller, examples } from '../support/system.ts';
import { openBrowser } from './support/visitor.ts';

const video = join(examples, 'street.mp4');
const MINUTE_MS = 60_000;
const { visit, visitWith } = openBrowser();

const isSignedOut = (page: Page) => page.getByText('signed out after 30 minutes without input').isVisible();

test('half an hour without input signs out, and input begins it anew', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await page.clock.install();
  await signIn((await Caller.create()).key);
  await page.clock.fastForward(29 * MINUTE_MS);
  await page.keyboard.press('Shift');
  await page.clock.fastForward(29 * MINUTE_MS);
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.clock.fastForward(2 * MINUTE_MS);
  await page.getByText('signed out after 30 minutes without input').waitFor();
  await go('#/tasks');
  await page.getByLabel('API key').waitFor();
  await visitor.close();
});

test('a sign-out that was asked for stays one, and leaves nothing of an upload that was not answered', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await page.clock.install();
  await signIn((await Caller.create()).key);
  await go('#/tasks/new-upload');
  await page.route('**/v1/vision/video-tasks*', (route) => route.abort('connectionreset'));
  await page.locator('input[type=file]').setInputFiles(video);
  await page.getByRole('button', { name: 'Upload and detect' }).click();
  await until(() => page.evaluate<boolean>(`sessionStorage.length > 0`));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out. The key is no longer held in this tab.').waitFor();
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  await page.clock.fastForward(31 * MINUTE_MS);
  expect(await isSignedOut(page)).toBe(false);
  await visitor.close();
});

test('an upload that goes on for an hour signs nobody out', async () => {
  const visitor = await visitWith((await Caller.create()).key, '#/tasks/new-upload');
  const { page } = visitor;
  await page.clock.install();
  // Progress as a slow connection reports it; nothing is sent.
  await page.evaluate(`XMLHttpRequest.prototype.send = function () {
    globalThis.progress = (sent) => this.upload.onprogress({ loaded: sent, total: 100 });
  }`);
  await page.locator('input[type=file]').setInputFiles(video);
  await page.getByRole('button', { name: 'Upload and detect' }).click();
  await until(() => page.evaluate<boolean>(`'progress' in globalThis`));
  // The scene belongs to the request that is under way.
  expect(await page.getByLabel('Scene').isDisabled()).toBe(true);
  for (const sent of [10, 30, 60]) {
    await page.clock.fastForward(20 * MINUTE_MS);
    await page.evaluate(`progress(${sent})`);
    await page.getByText(`${sent} B of 100 B sent`).waitFor();
    expect(await page.locator('progress').getAttribute('value')).toBe(String(sent));
  }
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The upload was cancelled.').waitFor();
  await page.clock.fastForward(31 * MINUTE_MS);
  await page.getByText('signed out after 30 minutes without input').waitFor();
  await visitor.close();
});
