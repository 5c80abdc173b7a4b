import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { inTransaction } from '@vision/shared/db/transaction';
import { compareThese, takeTouched } from '../db/audit.ts';
import type { CounterState } from '../db/audit.ts';
import { counterOf, nameOfCounter } from '../domain/counter.ts';
import type { Deps } from './deps.ts';

const KIND = 'quota_counter';
const PAGE = 2_000;

/** Compares counters with the ledger: those that any writer changed since the last audit. */
export function auditCounters({ db }: Pick<Deps, 'db'>): Audit {
  return {
    kind: KIND,
    find: () =>
      inTransaction(db, async (tx) => {
        const { counters, taken } = await takeTouched(tx, PAGE);
        await noteDifferences(tx, KIND, (await compareThese(tx, counters)).map(toFound));
        return taken === PAGE;
      }),
    confirm: async (names) => (await compareThese(db, names.map(counterOf))).map(toFound),
  };
}

const toFound = (state: CounterState): Found => ({
  id: nameOfCounter(state),
  details: { used: state.used, ledger: state.ledger },
});
