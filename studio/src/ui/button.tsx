import type { ComponentProps, ReactNode } from 'react';
import { type Scope, useAccess } from '../layout/access';
import css from './ui.module.css';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** Scope that the action of the button needs. Sessions without the scope do not see the button. */
  readonly needs?: Scope;
}

export function Button({
  kind = 'plain',
  type = 'button',
  needs,
  ...rest
}: ButtonProps): ReactNode {
  const mayUse = useAccess();
  if (!mayUse(needs)) return null;
  return <button className={css['button']} data-kind={kind} type={type} {...rest} />;
}
