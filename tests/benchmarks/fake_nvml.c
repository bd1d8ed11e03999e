// A driver's energy meter for a card named GPU-7; each reading finds 2.5 J more used.
static unsigned long long used_mj = 1000;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  *device = &used_mj;
  return uuid[4] == '7' ? 0 : 6;
}
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *found) {
  *found = *(unsigned long long *)device += 2500;
  return 0;
}
