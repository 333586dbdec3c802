import type { ReactNode } from 'react';
import { showCode } from '../format/text';
import css from './ui.module.css';

type Tone = 'good' | 'info' | 'bad' | 'calm';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  applied: 'good',
  issued: 'good',
  paid: 'good',
  ready: 'good',
  succeeded: 'good',
  won: 'good',
  advancing: 'info',
  inquiry: 'info',
  open: 'info',
  pending: 'info',
  processing: 'info',
  requires_action: 'info',
  trialing: 'info',
  failed: 'bad',
  incomplete: 'bad',
  lost: 'bad',
  past_due: 'bad',
  retrying: 'bad',
  uncollectible: 'bad',
  unpaid: 'bad',
};

export function Status({ value }: { readonly value: string }): ReactNode {
  return (
    <span className={css['status']} data-tone={TONES[value] ?? 'calm'}>
      {showCode(value)}
    </span>
  );
}
