import type { Page } from 'playwright-core';
import { Keyboard } from './keyboard.ts';

/** How a viewer uses a page. Each way of the console works with either. */
export interface Hand {
  press: (name: string | RegExp) => Promise<void>;
  write: (field: string, text: string) => Promise<void>;
  /** Chooses files, in the dialog that the page opens. */
  choose: (field: string, files: string[]) => Promise<void>;
}

export const hands = { mouse, keyboard } as const;
export type HandName = keyof typeof hands;

function mouse(page: Page): Hand {
  const named = (name: string | RegExp) =>
    page
      .getByRole('button', { name })
      .or(page.getByRole('link', { name }))
      .or(page.getByRole('checkbox', { name }))
      .and(page.locator(':visible'))
      .first();
  return {
    press: (name) => named(name).click(),
    write: async (field, text) => {
      await page.getByLabel(field, { exact: true }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
    },
    choose: async (field, files) => {
      const dialog = page.waitForEvent('filechooser');
      await page.getByText(field, { exact: true }).click();
      await (await dialog).setFiles(files);
    },
  };
}

function keyboard(page: Page): Hand {
  const keys = new Keyboard(page);
  return {
    press: async (name) => {
      await keys.tabTo(name);
      const isCheck = await page.evaluate<boolean>(`document.activeElement.type === 'checkbox'`);
      await keys.press(isCheck ? 'Space' : 'Enter');
    },
    write: async (field, text) => {
      await keys.tabTo(field);
      await keys.press('ControlOrMeta+a');
      await keys.paste(text);
    },
    choose: async (field, files) => {
      await keys.tabTo(new RegExp(`^${field}`));
      const dialog = page.waitForEvent('filechooser');
      await keys.press('Enter');
      await (await dialog).setFiles(files);
    },
  };
}
