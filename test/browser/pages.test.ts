import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { admin, Caller, examples, system } from '../support/system.ts';
import { consoleUrl, inspect, isTooWide, openBrowser, photograph, seriousFindings } from './support/visitor.ts';

const images = ['street.jpg', 'street.png'].map((name) => join(examples, name));
const { visit } = openBrowser();

async function keyWith(scopes: string[]): Promise<{ key: string; keyId: string }> {
  const { body } = await admin('POST', '/admin/v1/keys', { name: 'browser', scopes });
  return { key: String(body['key']), keyId: String(body['key_id']) };
}

test('from the sign-in to detections in images, with the keyboard alone', async () => {
  const visitor = await visit();
  const { page } = visitor;
  await inspect(visitor, 'sign-in');
  await page.keyboard.press('Tab');
  await page.keyboard.type((await Caller.create()).key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.getByText('of 100').waitFor();
  await inspect(visitor, 'start');

  await page.getByRole('link', { name: 'Try images' }).press('Enter');
  await page.locator('input[type=file]').setInputFiles(images);
  await photograph(page, 'images-chosen');
  await page.getByRole('button', { name: 'Detect objects' }).press('Enter');
  const rows = page.locator('.objects tbody tr', { hasText: 'person' });
  await rows.first().waitFor();
  const [slider, before] = [page.getByLabel('Lowest score'), await rows.count()];
  await slider.press('End');
  expect(await rows.count()).toBeLessThan(before);
  await slider.fill('0.5');
  expect(await rows.count()).toBeGreaterThan(0);
  await page.getByLabel('person').press('Space');
  expect(await rows.count()).toBe(0);
  await page.getByLabel('person').press('Space');
  await inspect(visitor, 'images');
  await visitor.close();
});

test('a wrong key is said so, and nothing is kept of it', async () => {
  const visitor = await visit();
  const { page } = visitor;
  await page.getByLabel('API key').fill('vk_12');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('has 63 characters').waitFor();
  await page.getByLabel('API key').fill(`vk_${'0'.repeat(16)}_${'A'.repeat(43)}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('did not accept the key').waitFor();
  await inspect(visitor, 'sign-in-rejected');
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  await visitor.close();
});

test('a key is kept for the tab only when asked, and is gone after the sign-out', async () => {
  const visitor = await visit();
  const { page, signIn } = visitor;
  const { key } = await Caller.create();
  await signIn(key);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Keep the key').check();
  await signIn(key);
  await page.reload();
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  expect(page.url()).not.toContain('vk_');
  await visitor.close();
});

test('a one-time address signs in once, and its code is nowhere afterwards', async () => {
  const { subject } = await Caller.create();
  const { body } = await admin('POST', '/admin/v1/console-codes', { subject });
  const fragment = `#code=${String(body['code'])}`;
  const visitor = await visit({}, fragment);
  await visitor.page.getByRole('heading', { name: 'Start' }).waitFor();
  expect(visitor.page.url()).toBe(consoleUrl);
  await visitor.page.goBack();
  expect(visitor.page.url()).not.toContain('code');
  await visitor.close();
  const second = await visit({}, fragment);
  await second.page.getByText('has expired or was used before').waitFor();
  await photograph(second.page, 'sign-in-code-used');
  await second.close();
});

test('what the key may not do is said calmly', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await keyWith(['read'])).key);
  await go('#/images');
  await page.locator('input[type=file]').setInputFiles(images);
  await page.getByRole('button', { name: 'Detect objects' }).click();
  await page.getByText('lacks the scope “create”').first().waitFor();
  await inspect(visitor, 'scope-missing');
  await go('#/');
  await page.getByText('This key cannot create work').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn((await keyWith(['create'])).key);
  await page.getByText('This key cannot read').waitFor();
  await go('#/tasks');
  await page.getByText('lacks the scope “read”').waitFor();
  await visitor.close();
});

test('a key that is revoked ends the session', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const { key, keyId } = await keyWith(['read']);
  await signIn(key);
  await go('#/tasks');
  await admin('DELETE', `/admin/v1/keys/${keyId}`);
  await page.getByText('no longer accepts the key').waitFor();
  await inspect(visitor, 'sign-in-revoked');
  await visitor.close();
});

test('a lost connection is said, and ends by itself', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/tasks');
  await page.getByText('No tasks yet').waitFor();
  await page.context().setOffline(true);
  await page.getByText('Connection lost. The console keeps trying.').waitFor();
  await page.getByText('No tasks yet').waitFor();
  await inspect(visitor, 'offline');
  await page.context().setOffline(false);
  await page.getByText('Connection lost. The console keeps trying.').waitFor({ state: 'hidden' });
  await visitor.close();
});

test('labels and names of others are text, whatever they hold', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const hostile = ['<img src=x onerror="document.title=1">', '\u202egnitirw desrever', 'x'.repeat(10_000), '\u0000'];
  await page.route('**/api/op/v1/scenes', async (route) => {
    const response = await route.fetch();
    const { scenes } = (await response.json()) as { scenes: Record<string, unknown>[] };
    const changed = scenes.map((scene) => ({ ...scene, name: hostile[0], description: hostile[1], labels: hostile }));
    await route.fulfill({ response, json: { scenes: changed } });
  });
  await page.route('**/v1/vision/image-detections', async (route) => {
    const bbox = { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.4, height: 0.4 };
    const objects = hostile.map((label) => ({ label, score: 0.99, bbox }));
    const json = {
      task_id: '1',
      request_id: '1',
      status: 'succeeded',
      results: [{ seq: 0, status: 'succeeded', objects }],
    };
    await route.fulfill({ status: 201, json });
  });
  await signIn((await Caller.create()).key);
  await page
    .getByText(hostile[0] ?? '')
    .first()
    .waitFor();
  await go('#/images');
  await page.locator('input[type=file]').setInputFiles(images.slice(0, 1));
  await page.getByRole('button', { name: 'Detect objects' }).click();
  await page.locator('.objects td', { hasText: '<img' }).waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(await page.title()).toBe('Try images · Vision');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await isTooWide(page)).toBe(false);
  await photograph(page, 'hostile-390');
  await visitor.close();
});

test('every page fits 390 pixels', async () => {
  const visitor = await visit({ viewport: { width: 390, height: 844 } });
  const { page, signIn, go } = visitor;
  await photograph(page, 'sign-in-390');
  expect(await isTooWide(page)).toBe(false);
  await signIn((await Caller.create()).key);
  for (const [fragment, name] of [
    ['#/', 'start'],
    ['#/images', 'images'],
    ['#/tasks/new-stream', 'new-stream'],
    ['#/tasks/new-upload', 'new-upload'],
    ['#/nowhere', 'unknown'],
  ] as const) {
    await go(fragment);
    await page.locator('h1').waitFor();
    await photograph(page, `${name}-390`);
    expect([fragment, await isTooWide(page)]).toEqual([fragment, false]);
    expect([fragment, await seriousFindings(page)]).toEqual([fragment, []]);
  }
  await visitor.close();
});

test('the first load is at most 120 KiB, and all of it comes from the gateway', async () => {
  const visitor = await visit();
  const sizes: number[] = [];
  visitor.page.on('requestfinished', (request) => {
    void request.sizes().then(({ responseBodySize }) => sizes.push(responseBodySize));
  });
  await visitor.page.goto(`${consoleUrl}?again`, { waitUntil: 'networkidle' });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(120 * 1024);
  expect(new URL(visitor.page.url()).origin).toBe(system.baseUrl);
  await visitor.close();
});
