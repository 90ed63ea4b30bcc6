# options: --function forward_pas
def forward_pass(x):
    return x
