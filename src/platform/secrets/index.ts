export { EncryptionKeyUses, SEALING_LOCK_CLASS } from './encryption-key-uses';
export { KeyRotation } from './key-rotation';
export { SealedColumns } from './sealed-columns';
export { SealedTextError, SecretBox } from './secret-box';
export { SecretsModule } from './secrets.module';
