import type { JSX } from 'preact';
import { Shell } from './components/shell.tsx';
import { AlarmsPage } from './pages/alarms.tsx';
import { ImageCallPage } from './pages/image-call.tsx';
import { ImagesPage } from './pages/images.tsx';
import { NewStreamPage } from './pages/new-stream.tsx';
import { NewUploadPage } from './pages/new-upload.tsx';
import { EditRulePage, NewRulePage } from './pages/rule.tsx';
import { lackOf, NotAllowedPage } from './pages/not-allowed.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { StartPage } from './pages/start.tsx';
import { TaskPage } from './pages/task.tsx';
import { TasksPage } from './pages/tasks.tsx';
import { UnknownPage } from './pages/unknown.tsx';
import { WebhookPage } from './pages/webhook.tsx';
import { WebhooksPage } from './pages/webhooks.tsx';
import { route } from './state/route.ts';
import { missingScopes, session } from './state/session.ts';

/** The console: the sign-in, or the page that the address names. */
export function App(): JSX.Element {
  if (!session.value) return <SignInPage />;
  return (
    <Shell>
      <CurrentPage />
    </Shell>
  );
}

function CurrentPage(): JSX.Element {
  const current = route.value;
  const lack = lackOf(current, missingScopes.value);
  if (lack) return <NotAllowedPage key={location.hash} current={current} lack={lack} />;
  switch (current.page) {
    case 'start':
      return <StartPage />;
    case 'images':
      return <ImagesPage />;
    case 'tasks':
      return <TasksPage />;
    case 'new-stream':
      return <NewStreamPage />;
    case 'new-upload':
      return <NewUploadPage />;
    case 'task':
      return <TaskPage key={current.taskId} taskId={current.taskId} />;
    case 'image-call':
      return <ImageCallPage key={current.taskId} taskId={current.taskId} />;
    case 'alarms':
      return <AlarmsPage />;
    case 'new-rule':
      return <NewRulePage key="" taskId={undefined} />;
    case 'new-rule-of':
      return <NewRulePage key={current.taskId} taskId={current.taskId} />;
    case 'rule':
      return <EditRulePage key={current.name} ruleId={current.name} />;
    case 'webhooks':
      return <WebhooksPage />;
    case 'webhook':
      return <WebhookPage key={current.name} endpointId={current.name} />;
    case 'unknown':
      return <UnknownPage />;
  }
}
