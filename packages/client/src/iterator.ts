/** A step of a reader: the cursor behind it and, where there is one, its item. */
export interface Step<T> {
  cursor: string | undefined;
  item?: T;
}

/** Items of a task, each once. */
export interface VisionIterator<T> extends AsyncIterableIterator<T, undefined> {
  /**
   * Where to go on after the last item that was returned: pass it as `cursor` to a new iterator, even of another
   * process. With a fallback to pages it moves by whole pages, so a new iterator repeats the items of an open page.
   */
  readonly cursor: string | undefined;
}

/** An iterator over the items of steps that keeps the cursor of the last one. */
export function iterate<T>(steps: AsyncGenerator<Step<T>, void>, from: string | undefined): VisionIterator<T> {
  let cursor = from;
  return {
    get cursor() {
      return cursor;
    },
    async next() {
      for (;;) {
        const step = await steps.next();
        if (step.done === true) return { done: true, value: undefined };
        cursor = step.value.cursor;
        if (step.value.item !== undefined) return { done: false, value: step.value.item };
      }
    },
    async return() {
      await steps.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
