import { chooseSegments, readFrameForm } from '../db/frame-form.ts';
import type { FrameForm } from '../db/frame-form.ts';
import type { Deps } from './deps.ts';

/** The form in which this process writes frames. */
export interface FormChoice {
  /** Asks the database until it has answered once; the answer holds for the life of the process. */
  learn: () => Promise<FrameForm>;
  /** False until it is known: every release reads rows, and they become segments later. */
  isSegments: () => boolean;
}

/** `auto` leaves it to the database, and `true` is remembered there. */
export type FormSetting = 'auto' | 'true' | 'false';

/** Decides by the setting, and by the database where the setting leaves it open. */
export function createFormChoice(setting: FormSetting, { db, signals }: Pick<Deps, 'db' | 'signals'>): FormChoice {
  let form: FrameForm | undefined;
  return {
    learn: async () => {
      if (form !== undefined) return form;
      form = await askFor(setting, { db });
      signals.formChosen({ keepsRows: setting === 'auto' && form === 'rows' });
      return form;
    },
    isSegments: () => form === 'segments',
  };
}

async function askFor(setting: FormSetting, { db }: Pick<Deps, 'db'>): Promise<FrameForm> {
  if (setting === 'false') return 'rows';
  if (setting === 'auto') return readFrameForm(db);
  await chooseSegments(db);
  return 'segments';
}
