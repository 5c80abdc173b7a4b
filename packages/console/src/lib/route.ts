/** A page of the console. The address of a page is in the fragment, which browsers never send. */
export type Route =
  | { page: 'start' | 'images' | 'tasks' | 'new-stream' | 'new-upload' | 'unknown' }
  | { page: 'task' | 'image-call'; taskId: string };

const pages = {
  '': 'start',
  images: 'images',
  tasks: 'tasks',
  'tasks/new-stream': 'new-stream',
  'tasks/new-upload': 'new-upload',
} as const;

const TASK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The page of a fragment; `unknown` for every odd spelling. */
export function routeOf(fragment: string): Route {
  const path = fragment.replace(/^#?\/?/, '');
  if (Object.hasOwn(pages, path)) return { page: pages[path as keyof typeof pages] };
  const [folder, taskId = '', ...rest] = path.split('/');
  if (rest.length > 0 || !TASK_ID.test(taskId)) return { page: 'unknown' };
  if (folder === 'tasks') return { page: 'task', taskId };
  return folder === 'images' ? { page: 'image-call', taskId } : { page: 'unknown' };
}

/** The fragment of a page. */
export function hrefOf(route: Route): string {
  if (route.page === 'task') return `#/tasks/${route.taskId}`;
  if (route.page === 'image-call') return `#/images/${route.taskId}`;
  const path = Object.entries(pages).find(([, page]) => page === route.page)?.[0];
  return `#/${path ?? ''}`;
}

/** The code of a one-time sign-in in a fragment. */
export const codeIn = (fragment: string): string | undefined => /^#code=([\w-]{43})$/.exec(fragment)?.[1];
