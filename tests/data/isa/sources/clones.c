__attribute__((target_clones("default","arch=+v","arch=+zbb")))
int sum(const int *a, int n){int s=0; for(int i=0;i<n;i++) s+=a[i]*3; return s;}
int call(const int*a,int n){return sum(a,n);}
