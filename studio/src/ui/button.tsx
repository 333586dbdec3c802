import type { ComponentProps, ReactNode } from 'react';
import css from './ui.module.css';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
}

export function Button({ kind = 'plain', type = 'button', ...rest }: ButtonProps): ReactNode {
  return <button className={css['button']} data-kind={kind} type={type} {...rest} />;
}
