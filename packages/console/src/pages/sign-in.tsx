import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { Check, TextField } from '../components/fields.tsx';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import type { Trouble } from '../lib/trouble.ts';
import { signedOut, signIn } from '../state/session.ts';
import { t } from '../strings.ts';

const KEY = /^vk_[0-9a-f]{16}_[\w-]{43}$/;

export function SignInPage(): JSX.Element {
  const why = signedOut.value;
  if (why === 'resuming') {
    return (
      <main class="narrow">
        <p role="status">{t.signIn.resuming}</p>
      </main>
    );
  }
  return (
    <main class="narrow">
      <p class="brand">{t.product}</p>
      <Page title={t.signIn.title} lead={t.signIn.lead}>
        {t.signIn.why[why] === '' ? null : <Notice kind="info" title={t.signIn.why[why]} />}
        <SignInForm />
      </Page>
    </main>
  );
}

function SignInForm(): JSX.Element {
  const key = useSignal('');
  const isKept = useSignal(false);
  const isPending = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    const text = key.value.trim();
    if (!KEY.test(text)) {
      trouble.value = { title: t.signIn.malformed, text: '', reason: 'malformed' };
      return;
    }
    isPending.value = true;
    const found = await signIn(text, isKept.value);
    isPending.value = false;
    trouble.value = found?.reason === 'api_key_invalid' ? { ...found, title: t.signIn.rejected, text: '' } : found;
  };
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <TextField
        name={t.signIn.key}
        isSecret
        value={key.value}
        hint={t.signIn.keyHint}
        onInput={(value) => (key.value = value)}
      />
      <Check isChecked={isKept.value} onChange={(value) => (isKept.value = value)}>
        {t.signIn.keep}
      </Check>
      <TroubleNotice trouble={trouble.value} />
      <ActionButton isSubmit class="primary" isBusy={isPending.value}>
        {isPending.value ? t.signIn.pending : t.signIn.submit}
      </ActionButton>
    </form>
  );
}
