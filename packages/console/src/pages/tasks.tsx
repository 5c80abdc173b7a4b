import type { components, TaskStatus } from '@vision/client';
import type { JSX } from 'preact';
import { Choice } from '../components/fields.tsx';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { StatusText } from '../components/status.tsx';
import { UsageToday } from '../components/usage-today.tsx';
import { inUtc, moment, short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { useSession } from '../state/session.ts';
import { taskCursor, taskFilter } from '../state/task-list.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { dataOf } from '../state/data.ts';
import { t } from '../strings.ts';

type Entry = components['schemas']['TaskHistoryEntry'];
const EVERY_MS = 5_000;
const PER_PAGE = 25;

const all = { value: '', text: t.tasks.all };
const kinds = [all, ...Object.entries(t.tasks.kinds).map(([value, text]) => ({ value, text }))];
const statuses = [all, ...Object.entries(t.tasks.statuses).map(([value, text]) => ({ value, text }))];

/** The task history, newest first. */
export function TasksPage(): JSX.Element {
  const { client, scenes } = useSession();
  const [filter, cursor] = [taskFilter, taskCursor];
  const { kind, status, scene_code: sceneCode } = filter.value;
  const { value, trouble, reload } = useLoaded({
    key: JSON.stringify([filter.value, cursor.value]),
    load: async (signal) => {
      const query = {
        limit: PER_PAGE,
        ...(kind === '' ? {} : { kind: kind as Entry['kind'] }),
        ...(status === '' ? {} : { status: status as TaskStatus }),
        ...(sceneCode === '' ? {} : { scene_code: sceneCode }),
        ...(cursor.value === '' ? {} : { cursor: cursor.value }),
      };
      return dataOf(await client.api.GET('/v1/vision/tasks', { params: { query }, signal }));
    },
    everyMs: () => EVERY_MS,
  });
  const choose = (change: Partial<typeof filter.value>) => {
    filter.value = { ...filter.value, ...change };
    cursor.value = '';
  };
  const isFiltered = kind !== '' || status !== '' || sceneCode !== '';
  const sceneOptions = [all, ...scenes.map((scene) => ({ value: scene.scene_code, text: scene.name }))];
  const page = value.value;
  return (
    <Page title={t.tasks.title} actions={<NewTaskLinks />}>
      <UsageToday />
      <div class="row" role="group" aria-label={t.tasks.filter}>
        <Choice name={t.tasks.kind} value={kind} options={kinds} onChange={(next) => choose({ kind: next })} />
        <Choice name={t.tasks.status} value={status} options={statuses} onChange={(next) => choose({ status: next })} />
        <Choice
          name={t.tasks.scene}
          value={sceneCode}
          options={sceneOptions}
          onChange={(next) => choose({ scene_code: next })}
        />
      </div>
      <TroubleNotice trouble={trouble.value} onRetry={reload} />
      {page === undefined && !trouble.value ? <p class="dim tall">{t.loading}</p> : null}
      {page?.items.length === 0 ? (
        <Notice kind="info" title={isFiltered ? t.tasks.emptyFiltered : t.tasks.empty} />
      ) : null}
      {page && page.items.length > 0 ? <TaskTable items={page.items} /> : null}
      <Pager
        texts={t.tasks}
        cursor={cursor.value}
        next={page?.next_cursor}
        onCursor={(next) => (cursor.value = next)}
      />
    </Page>
  );
}

function NewTaskLinks(): JSX.Element {
  return (
    <>
      <a class="button" href={hrefOf({ page: 'new-stream' })}>
        {t.tasks.newStream}
      </a>
      <a class="button" href={hrefOf({ page: 'new-upload' })}>
        {t.tasks.newUpload}
      </a>
    </>
  );
}

function TaskTable({ items }: { items: readonly Entry[] }): JSX.Element {
  const { scenes } = useSession();
  const nameOf = (code: string) => scenes.find((scene) => scene.scene_code === code)?.name ?? code;
  return (
    <table class="list">
      <caption class="hidden">{t.tasks.title}</caption>
      <thead>
        <tr>
          <th scope="col">{t.tasks.name}</th>
          <th scope="col">{t.tasks.status}</th>
          <th scope="col">{t.tasks.kind}</th>
          <th scope="col">{t.tasks.scene}</th>
          <th scope="col">{t.tasks.created}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((entry) => (
          <tr key={entry.task_id}>
            <th scope="row">
              <a href={hrefOf({ page: entry.kind === 'video' ? 'task' : 'image-call', taskId: entry.task_id })}>
                <bdi>{entry.client_ref === undefined ? entry.task_id.slice(0, 8) : short(entry.client_ref, 40)}</bdi>
              </a>
            </th>
            <td>
              <StatusText status={entry.status} />
            </td>
            <td>{t.tasks.kinds[entry.kind]}</td>
            <td>
              <bdi>{nameOf(entry.scene_code)}</bdi>
            </td>
            <td title={inUtc(entry.created_at)}>{moment(entry.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
