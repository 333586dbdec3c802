import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { type ChangeRequest, newKey, send } from '../api/client';
import { toCurl } from '../api/curl';
import { Button } from './button';
import { Problem } from './page';
import { toast } from './toast';
import css from './ui.module.css';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog, open as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect is undone while the dialog is in the document, so that closing it returns the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={ref} className={css['dialog']} aria-labelledby={id} onCancel={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Copies the request as a curl command. Without a clipboard, as on plain HTTP, it shows the command. */
export function CopyAsCurl({ request }: { readonly request: ChangeRequest | null }): ReactNode {
  const [shown, setShown] = useState(false);
  if (request === null) {
    return (
      <Button kind="quiet" disabled>
        Copy as curl
      </Button>
    );
  }
  const text = toCurl(request);
  const copy = (): void => {
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) setShown(true);
    else
      clipboard.writeText(text).then(
        () => toast('Copied. Set API_KEY to one of your keys.'),
        () => setShown(true),
      );
  };
  if (!shown) {
    return (
      <Button kind="quiet" onClick={copy}>
        Copy as curl
      </Button>
    );
  }
  return (
    <textarea
      className={`${css['curl'] ?? ''} mono`}
      readOnly
      aria-label="The request as a curl command"
      value={text}
      onFocus={(event) => event.target.select()}
    />
  );
}

export interface ActionDialogProps<Answer> {
  readonly title: string;
  readonly submitLabel: string;
  readonly kind?: 'primary' | 'danger';
  /** Null while the fields do not make a request. The key is the same for every attempt of one dialog. */
  readonly request: (idempotencyKey: string) => ChangeRequest | null;
  /** Returns the message for what was done. */
  readonly done: (answer: Answer) => string;
  readonly onDone?: (answer: Answer) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A dialog with fields that sends one request, shows why it failed, and reads all data again when it succeeded. */
export function ActionDialog<Answer>({
  title,
  submitLabel,
  kind = 'primary',
  request,
  done,
  onDone,
  onClose,
  children,
}: ActionDialogProps<Answer>): ReactNode {
  const [key] = useState(newKey);
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: (one: ChangeRequest) => send<Answer>(one),
    onSuccess: (answer) => {
      void cache.invalidateQueries();
      toast(done(answer));
      onClose();
      // Called last, so that it can open the next dialog.
      onDone?.(answer);
    },
  });
  const one = request(key);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (one !== null && !change.isPending) change.mutate(one);
        }}
      >
        {children}
        <Problem error={change.error} />
        <div className={css['row']}>
          <CopyAsCurl request={one} />
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" kind={kind} disabled={one === null || change.isPending}>
            {change.isPending ? 'Sending…' : submitLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
