import type { Page } from 'playwright-core';
import { focusedName, isFocusVisible } from './focus.ts';

/** No page of the console has more stops than this before what a way needs. */
const MOST_TABS = 60;

/** Tab only moves the focus. */
const MOVES = ['Tab', 'Shift+Tab'];

/** The keyboard of a viewer who has no mouse; it counts what is pressed, and where. */
export class Keyboard {
  presses = 0;
  /** The elements that got a key other than Tab, or a text: each by its page and its name. */
  readonly decisions = new Set<string>();
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(key: string, times = 1): Promise<void> {
    if (!MOVES.includes(key)) await this.#decide();
    for (let time = 0; time < times; time += 1) await this.#page.keyboard.press(key);
    this.presses += times;
  }

  /** Pastes a text: two keys at once. */
  async paste(text: string): Promise<void> {
    await this.#decide();
    await this.#page.keyboard.insertText(text);
    this.presses += 2;
  }

  focused(): Promise<string> {
    return focusedName(this.#page);
  }

  async #decide(): Promise<void> {
    this.decisions.add(`${new URL(this.#page.url()).hash} ${await this.focused()}`);
  }

  async #seeFocus(): Promise<void> {
    if (!(await isFocusVisible(this.#page))) throw new Error(`nobody sees the focus on ${await this.focused()}`);
  }

  /** Presses Tab until the focus is on what has this name. @throws Error when it never is, or is not seen on its way */
  async tabTo(name: string | RegExp): Promise<void> {
    const isThere = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
    // Where the last press has led, such as the heading of another page.
    if (this.presses > 0) await this.#seeFocus();
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      if (isThere(await this.focused())) return;
      await this.press('Tab');
      await this.#seeFocus();
    }
    throw new Error(`Tab does not lead to ${String(name)}`);
  }
}
