import type { Knex } from 'knex';
import { checkBucket } from '@vision/shared/object-store/check-bucket';
import type { ObjectStoreOptions } from '@vision/shared/object-store/exchange';
import { away, rootMessage, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import type { StartCheck } from '@vision/shared/start/start-checks';
import type { Config } from './config.ts';
import { chooseSegments, readFrameForm } from './db/frame-form.ts';
import type { FrameForm } from './db/frame-form.ts';
import type { Signals } from './signals.ts';

/** The form in which this process writes frames. */
export interface FormChoice {
  /** Rows until the form is known: every release reads them, and they become segments later. */
  isSegments: () => boolean;
  /** Learns the form, then asks whether the object store can be used that segments need. */
  check: StartCheck;
}

export interface FormChoiceParts {
  db: Knex;
  signals: Pick<Signals, 'formChosen'>;
  setting: Config['WRITE_SEGMENTS'];
  /** Undefined when none is named. */
  store: ObjectStoreOptions | undefined;
}

/** Decides by the setting, and by the database where the setting leaves it open; once, for the life of the process. */
export function createFormChoice({ db, signals, setting, store }: FormChoiceParts): FormChoice {
  let form: FrameForm | undefined;
  const learn = async () => {
    if (form !== undefined) return form;
    form = await askFor(setting, db);
    signals.formChosen({ keepsRows: setting === 'auto' && form === 'rows' });
    return form;
  };
  return {
    isSegments: () => form === 'segments',
    check: {
      name: 'bucket',
      readyWhileAway: true,
      ask: async () => {
        try {
          // A store that nothing is written to need not be there when the process starts.
          if ((await learn()) === 'rows') return undefined;
        } catch (error) {
          return away(`The database does not say yet whether frames are written as segments: ${rootMessage(error)}`);
        }
        return store ? checkBucket(store) : noStore;
      },
    },
  };
}

async function askFor(setting: Config['WRITE_SEGMENTS'], db: Knex): Promise<FrameForm> {
  if (setting === 'false') return 'rows';
  if (setting === 'auto') return readFrameForm(db);
  await chooseSegments(db);
  return 'segments';
}

const noStore: Fault = wrong(
  'S3_ENDPOINT is not set: frames of this database are stored as segments, unless WRITE_SEGMENTS is false',
);
