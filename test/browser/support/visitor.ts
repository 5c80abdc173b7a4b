import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findProgram } from '../../../deploy/local/host-programs.ts';
import { readSettings } from '../../../deploy/local/settings.ts';
import { system } from '../../support/system.ts';
import { stopCameras } from './camera.ts';
import { REPORT_LOST_FOCUS } from './focus.ts';
import { REPORT_SHIFTS } from './shifts.ts';

/** Where the images of the pages are. */
export const shots = join(readSettings().localDir, 'test/browser');
export const consoleUrl = `${system.baseUrl}/console/`;

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A browser with the console in it, and what it complained about. */
export interface Visitor {
  page: Page;
  /**
   * Errors of the console, breaches of the CSP, requests to other hosts, a lost focus, contents that jump, and what
   * `inspect` found.
   * Refusals of the API are no such thing.
   */
  complaints: string[];
  signIn: (key: string) => Promise<void>;
  go: (fragment: string) => Promise<void>;
  /** Ends the visit. @throws when there is a complaint */
  close: () => Promise<void>;
}

/** Opens the console; not signed in. */
export type Visit = (options?: BrowserContextOptions, fragment?: string) => Promise<Visitor>;

/** The browser of a test file, as long as its tests run. Cameras that they started end with it. */
export function openBrowser(): { visit: Visit; visitWith: (key: string, fragment?: string) => Promise<Visitor> } {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    stopCameras();
    await browser.close();
  });
  const open: Visit = (options, fragment) => visit(browser, options, fragment);
  return {
    visit: open,
    visitWith: async (key, fragment) => {
      const visitor = await open();
      await visitor.signIn(key);
      if (fragment !== undefined) await visitor.go(fragment);
      return visitor;
    },
  };
}

function launchBrowser(): Promise<Browser> {
  mkdirSync(shots, { recursive: true });
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) throw new Error('There is no chromium; run this with "make browser".');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** The browser writes down every refusal of the API, and every lost connection, by itself. */
const OF_BROWSER = /^Failed to load resource|net::ERR_(INTERNET_DISCONNECTED|CONNECTION_RESET|FAILED)/;

/** Reports breaches of the CSP where the page's own messages end up. */
const REPORT_BREACHES = `addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI));`;

async function visit(browser: Browser, options: BrowserContextOptions = {}, fragment = ''): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const complaints: string[] = [];
  const own = new URL(system.baseUrl).host;
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'blob:' && protocol !== 'data:' && host !== own) complaints.push(`request to ${request.url()}`);
  });
  context.on('console', (message) => {
    if (message.type() === 'error' && !OF_BROWSER.test(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  await context.addInitScript(REPORT_BREACHES);
  await context.addInitScript(REPORT_LOST_FOCUS);
  await context.addInitScript(REPORT_SHIFTS);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(consoleUrl + fragment);
  const go = async (fragment: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  };
  return {
    page,
    complaints,
    go,
    signIn: async (key) => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Start' }).waitFor();
    },
    close: async () => {
      expect(complaints).toEqual([]);
      await context.close();
    },
  };
}

interface AxeResult {
  violations: { id: string; impact: string | null; nodes: { html: string }[] }[];
}

/** Serious findings of axe on the page as it is. A script of the page could not load it, so the browser does. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Once for each document: changes of the page stay in it.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(await readFile(axePath, 'utf8'));
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** Keeps images of the page in both themes, wide and narrow, and complains of what is wrong with it in either. */
export async function inspect({ page, complaints }: Visitor, name: string): Promise<void> {
  const wide = page.viewportSize();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await keepImage(page, width === 390 ? `${name}-390-${colorScheme}` : `${name}-${colorScheme}`);
      if (await isTooWide(page)) complaints.push(`${name} is wider than ${width} pixels`);
      // Widths change what is shown and themes its colours; nothing is found in both together only.
      if (colorScheme === 'dark' && width === 390) continue;
      for (const finding of await seriousFindings(page)) complaints.push(`${name} ${colorScheme} ${width}: ${finding}`);
    }
  }
  // As a window of 1280 pixels is at a zoom of 200 %.
  await page.setViewportSize({ width: 640, height: 450 });
  if (await isTooWide(page)) complaints.push(`${name} is too wide at a zoom of 200 %`);
  await page.emulateMedia({ colorScheme: 'light' });
  if (wide) await page.setViewportSize(wide);
}

const keepImage = (page: Page, name: string) => page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });

/** Keeps an image of the page in both themes. */
export async function photograph(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await keepImage(page, `${name}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Whether the page is wider than the window. */
export const isTooWide = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
