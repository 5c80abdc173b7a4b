import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findProgram, installMissing } from '../../deploy/local/host-programs.ts';

export interface Photograph {
  url: string;
  /** The innermost element with this text is clicked before the picture is taken. */
  click: string;
  width: number;
  height: number;
}

/** What the click shows slides in. */
const SLIDE_MS = 1_500;

/** Takes a picture of a page with Chromium. @returns a PNG. */
export async function photograph({ url, click, width, height }: Photograph): Promise<Buffer> {
  installMissing(['chromium']);
  const executablePath = findProgram('chromium') ?? 'chromium-headless-shell';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width, height } });
    await page.goto(url);
    await page.getByText(click, { exact: true }).last().click();
    await delay(SLIDE_MS);
    return await page.screenshot();
  } finally {
    await browser.close();
  }
}
