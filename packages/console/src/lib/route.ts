/** A page of the console. The address of a page is in the fragment, which browsers never send. */
export type Route =
  | {
      page: 'start' | 'images' | 'tasks' | 'new-stream' | 'new-upload' | 'alarms' | 'new-rule' | 'webhooks' | 'unknown';
    }
  | { page: 'task' | 'image-call' | 'new-rule-of'; taskId: string }
  | { page: 'rule' | 'webhook'; name: string };

const pages = {
  '': 'start',
  images: 'images',
  tasks: 'tasks',
  'tasks/new-stream': 'new-stream',
  'tasks/new-upload': 'new-upload',
  alarms: 'alarms',
  'alarms/new-rule': 'new-rule',
  webhooks: 'webhooks',
} as const;

/** Pages of one task, and of one thing that the viewer named, by their folder. */
const taskFolders = { tasks: 'task', images: 'image-call', 'alarms/new-rule': 'new-rule-of' } as const;
const nameFolders = { 'alarms/rules': 'rule', webhooks: 'webhook' } as const;

const TASK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The page of a fragment; `unknown` for every odd spelling. */
export function routeOf(fragment: string): Route {
  const path = fragment.replace(/^#?\/?/, '');
  if (hasKey(pages, path)) return { page: pages[path] };
  const at = path.lastIndexOf('/');
  const [folder, last] = [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
  if (hasKey(taskFolders, folder) && TASK_ID.test(last)) return { page: taskFolders[folder], taskId: last };
  if (hasKey(nameFolders, folder) && NAME.test(last)) return { page: nameFolders[folder], name: last };
  return { page: 'unknown' };
}

const hasKey = <T extends object>(table: T, key: string): key is string & keyof T => Object.hasOwn(table, key);
const folderOf = (table: object, page: string) => Object.entries(table).find(([, value]) => value === page)?.[0] ?? '';

/** The fragment of a page. */
export function hrefOf(route: Route): string {
  if ('taskId' in route) return `#/${folderOf(taskFolders, route.page)}/${route.taskId}`;
  if ('name' in route) return `#/${folderOf(nameFolders, route.page)}/${route.name}`;
  return `#/${folderOf(pages, route.page)}`;
}

/** The code of a one-time sign-in in a fragment. */
export const codeIn = (fragment: string): string | undefined => /^#code=([\w-]{43})$/.exec(fragment)?.[1];
