import type { KafkaMessage } from 'kafkajs';

/** Leader epochs of the first and the last of some records of one partition. They grow with the offsets of a log. */
export interface Epochs {
  first: number;
  last: number;
}

/** Undefined when the broker keeps records in a form without epochs. */
export function epochsOf(first: KafkaMessage, last = first): Epochs | undefined {
  const [of, to] = [epochOf(first), epochOf(last)];
  return of === undefined || to === undefined ? undefined : { first: of, last: to };
}

/** The library passes on the batch context of a record without declaring it in its types. */
function epochOf(message: KafkaMessage & { batchContext?: { partitionLeaderEpoch?: number } }): number | undefined {
  return message.batchContext?.partitionLeaderEpoch;
}

/** A search backwards for a record of the log that was read. */
export interface Search {
  /** Distance of the last step from the row. */
  steps: bigint;
  found?: LostLog | undefined;
}

/** An election lost the records below the row, or the topic was recreated; the log has grown past the row since. */
export type LostLog = 'truncated' | 'log_restarted';

/** A row, the epoch of the record before it, and the records at hand. */
export interface Situation {
  row: bigint;
  rowEpoch: number | undefined;
  from: bigint;
  epochs: Epochs | undefined;
  /** There are no readable records between `from` and the row. */
  isBlank: boolean;
  /** The oldest offset that the partition still has. */
  low: bigint;
}

export interface Verdict {
  /** Where to read next; undefined when the records at hand are the right ones. */
  goTo?: bigint;
  search?: Search;
}

/**
 * Whether the log below a row is still the one that was read; if not, its records there are unread. In the same log,
 * the record before the row has the epoch of the row. Otherwise the search goes back, twice as far each time, to a
 * record that is as old.
 */
export function compareEpochs(situation: Situation, search: Search | undefined): Verdict {
  const { row, rowEpoch, from, epochs, isBlank, low } = situation;
  if (rowEpoch === undefined || epochs === undefined) return {};
  const { first } = epochs;
  if (search === undefined) {
    // Records before the row are read again for another reason.
    if (from < row || from <= low || first === rowEpoch) return {};
    if (first < rowEpoch) return { goTo: low, search: { steps: row - low, found: 'log_restarted' } };
    return { goTo: row - 1n, search: { steps: 1n } };
  }
  const found = search.found ?? (first > rowEpoch && !isBlank ? 'truncated' : undefined);
  if (first <= rowEpoch || from <= low) return { search: { ...search, found } };
  const steps = search.steps * 2n;
  return { goTo: row - steps > low ? row - steps : low, search: { steps, found } };
}
