import type { Page } from 'playwright-core';

/**
 * Complains where the page's own messages end up when the element with the focus has gone and nothing took its place.
 * A press beside everything takes the focus away, and means to; so does Tab behind the last element of the page.
 */
export const REPORT_LOST_FOCUS = `(() => {
  const LOST_AFTER_MS = 2000;
  let last, since;
  addEventListener('pointerdown', () => (last = undefined), true);
  addEventListener('keydown', ({ key }) => key === 'Tab' && (last = undefined), true);
  addEventListener('focusin', ({ target }) => {
    since = undefined;
    last = target.getAttribute('aria-label') ?? target.labels?.[0]?.textContent ?? target.textContent.slice(0, 60);
  }, true);
  setInterval(() => {
    if (last === undefined || document.activeElement !== document.body) return (since = undefined);
    since ??= performance.now();
    if (performance.now() - since < LOST_AFTER_MS) return;
    console.error('the focus was lost after: ' + last);
    last = undefined;
  }, 50);
})();`;

/** What a screen reader calls the element with the focus, shortened to what its tests need. */
const NAME = `(() => {
  const { activeElement: element } = document;
  const label = element.labels?.[0]?.textContent ?? element.getAttribute('aria-label') ?? element.textContent;
  return (label ?? '').trim();
})()`;

export const focusedName = (page: Page) => page.evaluate<string>(NAME);

/** Whether a viewer sees where the focus is: an outline around it, or around what stands for a hidden input. */
const IS_VISIBLE = `(() => {
  const { activeElement: element } = document;
  if (element === document.body || element.matches('video')) return true;
  const shown = element.closest('.drop') ?? element;
  const { outlineStyle, outlineWidth } = getComputedStyle(shown);
  const { width, height } = shown.getBoundingClientRect();
  return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 0 && height > 0;
})()`;

export const isFocusVisible = (page: Page) => page.evaluate<boolean>(IS_VISIBLE);
